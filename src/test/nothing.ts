/** Stands for style sheets and pictures that a bundler would take. */
export default '<svg xmlns="http://www.w3.org/2000/svg"/>';

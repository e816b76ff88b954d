/** Jest runs the TypeScript of `src/test` in jsdom; Lab's packages are ES modules and need turning. */
const esModules = [
  '@jupyter/',
  '@jupyterlab/',
  '@microsoft/',
  '@rjsf/',
  'exenv-es6',
  'lib0',
  'nanoid',
  'vscode-jsonrpc',
  'vscode-ws-jsonrpc',
  'y-protocols',
  'yjs'
];

module.exports = {
  testEnvironment: 'jsdom',
  testMatch: ['<rootDir>/src/test/**/*.spec.ts'],
  setupFiles: ['<rootDir>/src/test/setup.ts'],
  moduleNameMapper: {
    '\\.(css|svg)$': '<rootDir>/src/test/nothing.ts'
  },
  modulePathIgnorePatterns: [
    '<rootDir>/.venv',
    '<rootDir>/build',
    '<rootDir>/dask_diag_lab',
    '<rootDir>/lib'
  ],
  transform: {
    '\\.[jt]sx?$': [
      'ts-jest',
      {
        tsconfig: {
          allowJs: true,
          esModuleInterop: true,
          isolatedModules: true,
          module: 'commonjs',
          target: 'ES2021'
        },
        diagnostics: false
      }
    ]
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esModules.join('|')}))`],
  reporters: ['default']
};

// Rules that keep the folders of src/ apart and its types honest.
import js from '@eslint/js';
import imports from 'eslint-plugin-import';
import tseslint from 'typescript-eslint';

/** A folder may import from those after it, never from those before it. */
const FOLDERS = [
  ...['plugins', 'widgets', 'page', 'plot', 'dashboards', 'transport', 'protocol', 'models'],
  ...['text', 'tokens']
];

/** One rule a folder: what it may not import. */
const directions = FOLDERS.map((folder, at) => ({
  files: [`src/${folder}/**/*.{ts,tsx}`, `src/${folder}.ts`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          ...FOLDERS.slice(0, at).map(other => ({
            regex: `^(\\.\\./|\\./)+${other}(/|$)`,
            message: `src/${folder} must not import src/${other}.`
          })),
          { regex: '^(\\.\\./|\\./)+index$', message: 'Nothing imports the list of plugins.' }
        ]
      }
    ]
  }
}));

export default tseslint.config(
  { ignores: ['lib/**', 'node_modules/**', 'dask_diag_lab/**'] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  {
    files: ['src/**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { project: './tsconfig.test.json' } },
    plugins: { import: imports },
    settings: {
      'import/parsers': { '@typescript-eslint/parser': ['.ts', '.tsx'] },
      'import/resolver': { node: { extensions: ['.ts', '.tsx'] } }
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-function-return-type': [
        'error',
        { allowExpressions: true, allowTypedFunctionExpressions: true }
      ],
      '@typescript-eslint/naming-convention': [
        'error',
        { selector: 'interface', format: ['PascalCase'], prefix: ['I'] },
        {
          selector: 'memberLike',
          modifiers: ['private'],
          format: ['camelCase'],
          leadingUnderscore: 'require'
        }
      ],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-namespace': 'off', // ids are grouped as Lab groups them
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      'import/no-cycle': 'error',
      'max-lines-per-function': ['error', { max: 45, skipBlankLines: true, skipComments: true }],
      'no-console': ['error', { allow: ['warn'] }],
      eqeqeq: ['error', 'always', { null: 'ignore' }]
    }
  },
  ...directions,
  {
    // Who collects our texts reads them in the source; `gettext` is for those of a dashboard.
    files: ['src/{plugins,widgets,plot,dashboards,transport}/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.property.name=/^_[_n]$/][arguments.0.type!="Literal"]',
          message: 'What is translated is a literal.'
        }
      ]
    }
  },
  {
    files: ['src/test/**/*.{ts,tsx}'],
    rules: { 'max-lines-per-function': 'off', '@typescript-eslint/no-non-null-assertion': 'off' }
  },
  {
    // A plugin registers its commands in one place, a component is its markup.
    files: ['src/plugins/**/*.ts', 'src/**/*.tsx'],
    rules: {
      'max-lines-per-function': ['error', { max: 85, skipBlankLines: true, skipComments: true }]
    }
  },
  {
    // A model's class is made inside the function that has Bokeh's classes to derive it from.
    // Numeric loops read columns by indices that they have counted themselves.
    files: ['src/models/**/*.ts'],
    rules: { 'max-lines-per-function': 'off', '@typescript-eslint/no-non-null-assertion': 'off' }
  },
  { files: ['*.js'], languageOptions: { globals: { module: 'writable' } } }
);

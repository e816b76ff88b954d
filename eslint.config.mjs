// Rules that keep the rooms of src/ apart and its types honest.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Left to right: a room may import from those after it, never from those before it. */
const ROOMS = ['plugins', 'widgets', 'model', 'api', 'wire', 'tokens'];

/** One rule per room: what it may not import. */
const directions = ROOMS.map((room, at) => ({
  files: [`src/${room}/**/*.ts`, `src/${room}.ts`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          ...ROOMS.slice(0, at).map(other => ({
            regex: `^(\\.\\./|\\./)+${other}(/|$)`,
            message: `The room “${room}” knows nothing of “${other}”.`
          })),
          { regex: '^(\\.\\./|\\./)+index$', message: 'Nothing imports the list of plugins.' },
          ...(at > 0 && at < 6
            ? [
                {
                  group: [
                    '@jupyterlab/application',
                    '@jupyterlab/apputils',
                    '@jupyterlab/notebook'
                  ],
                  message: 'Only plugins know the application.'
                }
              ]
            : [])
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
    files: ['src/**/*.ts'],
    languageOptions: { parserOptions: { project: './tsconfig.test.json' } },
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
      'max-lines': ['error', { max: 330, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 45, skipBlankLines: true, skipComments: true }],
      'no-console': ['error', { allow: ['warn'] }],
      eqeqeq: ['error', 'always', { null: 'ignore' }]
    }
  },
  ...directions,
  {
    files: ['src/test/**/*.ts'],
    rules: { 'max-lines-per-function': 'off', '@typescript-eslint/no-non-null-assertion': 'off' }
  },
  { files: ['*.js'], languageOptions: { globals: { module: 'writable' } } }
);

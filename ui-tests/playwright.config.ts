import { defineConfig } from '@playwright/test';

// Found or brought by scripts/chromium.py; Playwright's own download is not reachable everywhere.
const executablePath = process.env.CHROMIUM_PATH || undefined;

export default defineConfig({
  // Each has a JupyterLab of its own. A test waits for half of its time, so two share two cores well.
  workers: 2,
  fullyParallel: false,
  // A flaky test is fixed or deleted, not run again.
  retries: 0,
  forbidOnly: true,
  // A backstop: each wait in a test has a limit of its own.
  timeout: 240_000,
  expect: { timeout: 45_000 },
  reporter: 'list',
  outputDir: 'test-results',
  use: {
    actionTimeout: 45_000,
    viewport: { width: 1400, height: 900 },
    screenshot: 'only-on-failure',
    // Takes a fifth of the machine's time; `playwright test --trace retain-on-failure` keeps one.
    trace: 'off',
    launchOptions: {
      executablePath,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync'
      ]
    }
  },
  projects: [
    { name: 'story', testDir: 'tests' },
    { name: 'pictures', testDir: 'pictures' }
  ]
});

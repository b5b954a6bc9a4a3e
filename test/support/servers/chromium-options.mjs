/** What Playwright switches off. Our option replaces that of Playwright, so its list is repeated here (test/servers/chromium compares both). */
const offInPlaywright = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'msForceBrowserSignIn',
  'msEdgeUpdateLaunchServicesPreferredVersion',
];

/**
 * Each window loads two hidden pages for the suggestions of its address bar, with a process of their own each. Nobody sees
 * them without a screen, and they take half of the processor time of the browser.
 */
const hiddenPages = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'];

/** Without these options Chromium sends requests to its vendor at the start, and loads pages that nobody sees. */
export const quietOptions = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${[...offInPlaywright, ...hiddenPages].join(',')}`,
];

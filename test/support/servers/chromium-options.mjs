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

/**
 * Each browser context keeps an empty process ready for its next site. The contexts of the tests see one site, and have a second
 * process for nothing.
 */
const spareProcess = 'SpareRendererForSitePerProcess';

/**
 * Without these options Chromium sends requests to its vendor at the start, loads pages that nobody sees, and
 * starts processes that the tests do not need: one for graphics, and one for each further page of a site.
 */
export const quietOptions = [
  '--no-sandbox',
  '--disable-gpu',
  '--in-process-gpu',
  '--renderer-process-limit=1',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${[...offInPlaywright, ...hiddenPages, spareProcess].join(',')}`,
];

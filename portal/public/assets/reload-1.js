// portal/README.md, "During a roll-out"
(() => {
  const folder = document.currentScript.src.replace(/[^/]*$/, '');
  const { sessionStorage: store } = window;
  let missing = false;
  addEventListener(
    'error',
    ({ target: { src, href } }) => {
      missing ||= (src ?? href ?? '').startsWith(folder);
    },
    true,
  );
  addEventListener('load', () => {
    const reloads = Number(store['portal.reloads'] ?? 0);
    const again = missing && reloads < 10;
    store['portal.reloads'] = again ? reloads + 1 : 0;
    if (again) setTimeout(() => location.reload(), 1000);
    document.getElementById('not-loaded').hidden = again || !missing;
  });
})();

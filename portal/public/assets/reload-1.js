// portal/README.md, "During a roll-out"
(() => {
  const folder = document.currentScript.src.replace(/[^/]*$/, '');
  const key = 'portal.missing-since';
  let script = false;
  let styles = 10;
  const onError = ({ target }) => {
    script ||= (target.src ?? '').startsWith(folder);
    if ((target.href ?? '').startsWith(folder) && styles-- > 0)
      setTimeout(() => target.replaceWith(target.cloneNode()), 1000);
  };
  const onLoad = () => {
    if (!script) return;
    const passed = Date.now() - Number(sessionStorage[key] ?? 0);
    const first = passed > 60_000;
    if (first) sessionStorage[key] = Date.now();
    if (first || passed < 15_000) setTimeout(() => location.reload(), 1000);
    else document.getElementById('not-loaded').hidden = false;
  };
  addEventListener('error', onError, true);
  addEventListener('load', onLoad);
})();

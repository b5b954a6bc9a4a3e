// portal/README.md, "During a roll-out"
(() => {
  const folder = document.currentScript.src.replace(/[^/]*$/, '');
  const key = 'portal.reloads';
  let script = false;
  let styles = 10;
  const onError = ({ target }) => {
    script ||= (target.src ?? '').startsWith(folder);
    if ((target.href ?? '').startsWith(folder) && styles-- > 0)
      setTimeout(() => target.replaceWith(target.cloneNode()), 1000);
  };
  const onLoad = () => {
    const reloads = Number(sessionStorage[key] ?? 0);
    const again = script && reloads < 10;
    sessionStorage[key] = again ? reloads + 1 : 0;
    if (again) setTimeout(() => location.reload(), 1000);
    document.getElementById('not-loaded').hidden = again || !script;
  };
  addEventListener('error', onError, true);
  addEventListener('load', onLoad);
})();

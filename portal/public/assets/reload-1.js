// See "During a roll-out" in portal/README.md. Other content needs another name.
(() => {
  const key = 'portal.reloads';
  const folder = document.currentScript.src.replace(/[^/]*$/, '');
  let missing = false;
  const onError = ({ target }) => {
    if (missing || !(target.src ?? target.href ?? '').startsWith(folder)) return;
    missing = true;
    const reloads = Number(sessionStorage[key] ?? 0);
    sessionStorage[key] = reloads + 1;
    if (reloads < 10) setTimeout(() => location.reload(), 1000);
  };
  addEventListener('error', onError, true);
  addEventListener('load', () => {
    removeEventListener('error', onError, true);
    if (!missing) delete sessionStorage[key];
    else if (sessionStorage[key] > 10) {
      delete sessionStorage[key];
      document.getElementById('not-loaded').hidden = false;
    }
  });
})();

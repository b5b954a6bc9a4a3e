import { useEffect, useState } from 'react';
import { remember, remembered } from './preferences';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'portal.theme';

function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

const first = remembered(key, themes) ?? 'system';
show(first);

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(first);
  useEffect(() => show(theme), [theme]);
  const choose = (next: Theme) => {
    remember(key, next);
    setTheme(next);
  };
  return [theme, choose];
}

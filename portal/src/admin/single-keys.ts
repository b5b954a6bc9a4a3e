import { remember, remembered } from '../preferences';

const key = 'portal.single-keys';

/** Whether keys without Ctrl or ⌘ act (WCAG 2.1.4). Speech input types letters, so each browser can switch them off. */
export const hasSingleKeys = (): boolean => remembered(key, ['off']) !== 'off';

export const setSingleKeys = (on: boolean): void => remember(key, on ? 'on' : 'off');

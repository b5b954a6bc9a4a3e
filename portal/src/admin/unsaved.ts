import { useAskBeforeLeaving } from '../unsaved';
import { useTexts } from './i18n/texts';

/** Asks before the page is left while `changed` is true. A form uses `useDraft`, which does so as well. */
export const useUnsaved = (changed: boolean): void => useAskBeforeLeaving(changed, useTexts().unsaved);

/** The result of an action: a sentence with a way back where there is one, or why it was refused. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  /** Is set when the action, or its undoing, was refused. */
  readonly error?: unknown;
  /** Brings back what was there before, and returns the sentence about it. */
  readonly undo?: () => Promise<string>;
}

/** Older results make place for newer ones. Refusals stay. */
const most = 3;

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function show(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function add(toast: Omit<Toast, 'id'>): void {
  const done = toasts.filter(({ error }) => error === undefined);
  const over = new Set(done.slice(0, Math.max(0, done.length + 1 - most)));
  show([...toasts.filter((one) => !over.has(one)), { id: ++lastId, ...toast }]);
}

/** Tells the result of an action, wherever the administrator goes next. */
export const say = (text: string, undo?: Toast['undo']): void => add({ text, ...(undo && { undo }) });

/** Tells why an action was refused that has no form or dialog which could say so. */
export const complain = (error: unknown): void => add({ text: '', error });

export const dismiss = (id: number): void => show(toasts.filter((one) => one.id !== id));

/** Another administrator must not read what the one before has done. */
export const dismissAll = (): void => show([]);

/** For the component that shows them. */
export const shownToasts = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  get: (): readonly Toast[] => toasts,
};

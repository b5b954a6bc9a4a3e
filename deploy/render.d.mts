export function digestOfSources(): string;
export function prometheusRule(): object;

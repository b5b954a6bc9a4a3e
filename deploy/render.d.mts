export function digestOfSources(): string;
export function prometheusRule(): object;
export function httpRoute(options: { readonly portal: boolean }): object;

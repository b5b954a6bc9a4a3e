export function withModuleFunctions(code: string): string;
export function withOneCopyOfModules(code: string): string;

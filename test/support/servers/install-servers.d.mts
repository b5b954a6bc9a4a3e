import type { ProgramName } from './server-programs.mjs';

export type Run = (command: string, args: string[], env?: Record<string, string>) => Promise<void>;

export function ensurePrograms(names: ProgramName[], run: Run, say: (line: string) => void): Promise<void>;
export function installPackages(packages: string[], run: Run, policy?: string): Promise<void>;

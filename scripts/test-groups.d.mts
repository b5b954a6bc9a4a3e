interface Configuration {
  readonly projects: readonly { readonly displayName: string; readonly testMatch?: readonly string[] }[];
}

export function inGroups(config: Configuration, directory: string): Configuration;
export function isGroup(file: string): boolean;

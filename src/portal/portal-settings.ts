import { statSync } from 'node:fs';
import type { SettingsReader } from '../platform/config/settings-reader';

export abstract class PortalSettings {
  /** Whether this service serves the web pages (docs/spec/extensions.md#h). */
  abstract readonly on: boolean;
  /** The folder of the files below `/brand/`. */
  abstract readonly brandDir: string | undefined;
}

export function readPortalSettings(env: SettingsReader): PortalSettings {
  const brandDir = env.optional('BRAND_DIR');
  if (brandDir !== undefined && !isFolder(brandDir)) env.problem('BRAND_DIR', 'is not a folder');
  return { on: env.choice('PORTAL', ['on', 'off'], 'off') === 'on', brandDir };
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

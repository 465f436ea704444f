import { resolve } from "node:path";
import { StartupError } from "../../process/startup-error.ts";
import { type FlagOptions, flags } from "./flags.ts";

export interface EncryptionOptions {
  /** Path of the configuration; undefined to encrypt nothing. */
  readonly file: string | undefined;
  /** Whether changes of the file are used without a restart. */
  readonly reloads: boolean;
}

/** @throws StartupError for reloading without a file */
export function encryptionOptionsOf(options: FlagOptions): EncryptionOptions {
  const file = options.encryptionProviderConfig;
  const reloads =
    options.encryptionProviderConfigAutomaticReload ?? flags["encryption-provider-config-automatic-reload"].default;
  if (reloads && file === undefined) {
    throw new StartupError(
      "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config",
    );
  }
  return { file: file === undefined ? undefined : resolve(file), reloads };
}

import type { AuthorizationMode, AuthorizationOptions } from "../../access/authorization/authorization-options.ts";
import { StartupError } from "../../process/startup-error.ts";
import { type FlagOptions, flags } from "./flags.ts";

/** @throws StartupError for flags that contradict each other */
export function authorizationOptionsOf(options: FlagOptions): AuthorizationOptions {
  const { authorizationConfig: configFile, authorizationPolicyFile, authorizationWebhookConfigFile } = options;
  const byDefault = configFile === undefined ? flags["authorization-mode"].default : [];
  const modes = (options.authorizationMode ?? byDefault) as readonly AuthorizationMode[];
  if (configFile !== undefined) refuseFlagsBesideFile(options);
  const usesFile = configFile !== undefined;
  checkPair({ mode: "ABAC", modes, flag: "--authorization-policy-file", file: authorizationPolicyFile, usesFile });
  const webhookFlag = "--authorization-webhook-config-file";
  checkPair({ mode: "Webhook", modes, flag: webhookFlag, file: authorizationWebhookConfigFile, usesFile: false });
  return {
    modes,
    configFile,
    policyFile: authorizationPolicyFile,
    webhook: {
      configFile: authorizationWebhookConfigFile,
      version: webhookVersion(options),
      authorizedTtlMs:
        options.authorizationWebhookCacheAuthorizedTtlMs ?? flags["authorization-webhook-cache-authorized-ttl"].default,
      unauthorizedTtlMs:
        options.authorizationWebhookCacheUnauthorizedTtlMs ??
        flags["authorization-webhook-cache-unauthorized-ttl"].default,
    },
  };
}

function refuseFlagsBesideFile(options: FlagOptions): void {
  const given: (readonly [string, unknown])[] = [
    ["--authorization-mode", options.authorizationMode],
    ["--authorization-webhook-config-file", options.authorizationWebhookConfigFile],
    ["--authorization-webhook-version", options.authorizationWebhookVersion],
    ["--authorization-webhook-cache-authorized-ttl", options.authorizationWebhookCacheAuthorizedTtlMs],
    ["--authorization-webhook-cache-unauthorized-ttl", options.authorizationWebhookCacheUnauthorizedTtlMs],
  ];
  const found = given.find(([, value]) => value !== undefined);
  if (found === undefined) return;
  throw new StartupError(
    `--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined: leave ${found[0]} out`,
  );
}

interface Pair {
  readonly mode: AuthorizationMode;
  readonly modes: readonly AuthorizationMode[];
  readonly flag: string;
  readonly file: string | undefined;
  /** Whether --authorization-config is given. Its file may contain the mode too. */
  readonly usesFile: boolean;
}

function checkPair({ mode, modes, flag, file, usesFile }: Pair): void {
  if (modes.includes(mode) && file === undefined) throw new StartupError(`--authorization-mode: ${mode} needs ${flag}`);
  if (!modes.includes(mode) && file !== undefined && !usesFile) {
    throw new StartupError(`${flag}: has no effect without ${mode} in --authorization-mode: add it or omit the file`);
  }
}

function webhookVersion({ authorizationWebhookVersion }: FlagOptions): "v1" | "v1beta1" {
  const [version = "v1beta1", ...others] =
    authorizationWebhookVersion ?? flags["authorization-webhook-version"].default;
  if (others.length > 0) throw new StartupError("--authorization-webhook-version: name one version");
  return version === "v1" ? "v1" : "v1beta1";
}

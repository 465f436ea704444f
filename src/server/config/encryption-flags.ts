import type { Flag } from "./flag.ts";

/** Flags that decide which objects are encrypted in the store. */
export const encryptionFlags = {
  "encryption-provider-config": {
    type: "text",
    group: "Storage",
    value: "file",
    help: "EncryptionConfiguration with the resources to encrypt in the store, and their keys",
  },
  "encryption-provider-config-automatic-reload": {
    type: "boolean",
    default: false,
    group: "Storage",
    help: "use changes of --encryption-provider-config without a restart",
  },
} as const satisfies Record<string, Flag>;

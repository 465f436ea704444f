import type { JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { objectsOf, textOf } from "../validation/pod-fields.ts";

export const serviceAccountStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  prepareForCreate: keepNamesOfSecrets,
  prepareForUpdate: keepNamesOfSecrets,
};

/** Secrets are named among those of the own namespace; nothing else of a reference means anything. */
function keepNamesOfSecrets(account: KubeObject): void {
  const secrets = objectsOf(account["secrets"] as JsonValue | undefined);
  if (secrets.length > 0) account["secrets"] = secrets.map(({ name }) => ({ name: textOf(name) }));
}

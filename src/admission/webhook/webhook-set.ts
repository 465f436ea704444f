import type { GroupResource } from "../../api/gvk.ts";
import type { Revision } from "../../api/revision.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";
import type { Registry } from "../../registry/registry.ts";
import { type AdmissionWebhook, webhooksOf } from "./webhook-configuration.ts";

export interface WebhookSetParts {
  readonly lookup: Pick<ObjectLookup, "list">;
  readonly registryOf: (resource: GroupResource) => Registry | undefined;
}

const noWebhooks: readonly AdmissionWebhook[] = [];

/**
 * The webhooks of all configurations of one kind. It reads the cache of the kind, which changes in the same turn in which
 * a replica applies a write: a configuration is in force when its write is acknowledged.
 */
export class WebhookSet {
  readonly #resource: GroupResource;
  readonly #parts: WebhookSetParts;
  readonly #onChange: (webhooks: readonly AdmissionWebhook[]) => void;
  #changed: Revision | undefined;
  #webhooks = noWebhooks;

  constructor(
    resource: GroupResource,
    parts: WebhookSetParts,
    onChange: (webhooks: readonly AdmissionWebhook[]) => void,
  ) {
    this.#onChange = onChange;
    this.#resource = resource;
    this.#parts = parts;
  }

  all(): readonly AdmissionWebhook[] {
    const cacher = this.#parts.registryOf(this.#resource)?.cacher;
    if (cacher === undefined || cacher.size === 0) {
      if (this.#webhooks.length > 0) this.#replace(noWebhooks, undefined);
    } else if (cacher.changed !== this.#changed) {
      this.#replace(webhooksOf(this.#parts.lookup.list(this.#resource, "")), cacher.changed);
    }
    return this.#webhooks;
  }

  #replace(webhooks: readonly AdmissionWebhook[], changed: Revision | undefined): void {
    this.#webhooks = webhooks;
    this.#changed = changed;
    this.#onChange(webhooks);
  }
}

import type { GroupResource } from "../../api/gvk.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";
import type { Store } from "../../storage/store.ts";
import { type AdmissionWebhook, webhooksOf } from "./webhook-configuration.ts";

/**
 * The webhooks of all configurations of one kind. A configuration counts from the moment in which this replica has
 * applied it, which is before its writer hears of it.
 */
export class WebhookSet implements Disposable {
  readonly #resource: GroupResource;
  readonly #lookup: Pick<ObjectLookup, "list">;
  readonly #subscription: Disposable;
  #webhooks: readonly AdmissionWebhook[] | undefined;

  constructor(resource: GroupResource, lookup: Pick<ObjectLookup, "list">, store: Pick<Store, "subscribe">) {
    this.#resource = resource;
    this.#lookup = lookup;
    const prefix = `/registry/${resource.resource}/`;
    this.#subscription = store.subscribe((events, _revision, jumped) => {
      if (jumped === true || events.some(({ entry }) => entry.key.startsWith(prefix))) this.#webhooks = undefined;
    });
  }

  all(): readonly AdmissionWebhook[] {
    this.#webhooks ??= webhooksOf(this.#lookup.list(this.#resource, ""));
    return this.#webhooks;
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }
}

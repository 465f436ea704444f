export type Labels = Readonly<Record<string, string>>;

/** Selectors of services, by namespace. Services without a selector are omitted. */
export class ServiceSelectors {
  readonly #byNamespace = new Map<string, Map<string, readonly (readonly [string, string])[]>>();

  /** Records the selector of a service, or that it has none. */
  set(namespace: string, name: string, selector: Labels | undefined): void {
    const services = this.#byNamespace.get(namespace) ?? new Map<string, readonly (readonly [string, string])[]>();
    if (selector === undefined) services.delete(name);
    else services.set(name, Object.entries(selector));
    if (services.size > 0) this.#byNamespace.set(namespace, services);
    else this.#byNamespace.delete(namespace);
  }

  /** Reports whether any service of the namespace selects pods. */
  has(namespace: string): boolean {
    return this.#byNamespace.has(namespace);
  }

  /** Returns the names of the services that select a pod with these labels. */
  matching(namespace: string, labels: Labels | undefined): ReadonlySet<string> {
    const names = new Set<string>();
    for (const [name, selector] of this.#byNamespace.get(namespace) ?? []) {
      if (selector.every(([key, value]) => labels?.[key] === value)) names.add(name);
    }
    return names;
  }
}

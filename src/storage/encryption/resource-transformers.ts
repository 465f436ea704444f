import type { GroupResource } from "../../api/gvk.ts";
import { AesCbc, AesGcm } from "./aes.ts";
import type { NamedKey, ProviderConfiguration, ResourceConfiguration } from "./encryption-configuration.ts";
import { identity } from "./identity.ts";
import { type PrefixedTransformer, PrefixTransformer, type TransformationObserver } from "./prefix-transformer.ts";
import { parseResourceName, resourceNameText } from "./resource-name.ts";
import { Secretbox } from "./secretbox.ts";
import type { Transformer } from "./transformer.ts";

/** The transformer of a resource. */
export interface ResourceTransformer {
  readonly transformer: Transformer;
  /** Whether it encrypts what it writes. */
  readonly encrypts: boolean;
}

/** How a group of resources is stored, for reports. */
export interface EncryptedResources {
  /** Name as in the configuration, such as `secrets` or `*.apps`. */
  readonly resources: string;
  /** Names of its providers, such as `aescbc`. The first one writes. */
  readonly providers: readonly string[];
}

const v1Refusal =
  "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.";

const anything: GroupResource = { group: "*", resource: "*" };

/** The transformers of all resources. A resource without one is stored as it is. */
export class ResourceTransformers {
  readonly #byName = new Map<string, ResourceTransformer>();
  readonly described: readonly EncryptedResources[];

  /**
   * @param keyServices the transformers of key services by the names of their providers
   * @throws Error with upstream's message for a rule that can have no effect
   */
  constructor(
    configuration: readonly ResourceConfiguration[] = [],
    observe: TransformationObserver = () => undefined,
    keyServices: ReadonlyMap<string, Transformer> = new Map(),
  ) {
    const lists = new Map<string, ProviderConfiguration[]>();
    for (const { resources, providers } of configuration) {
      for (const name of resources) {
        const resource = parseResourceName(name);
        refuseMasked(resource, lists);
        const key = resourceNameText(resource);
        lists.set(key, [...(lists.get(key) ?? []), ...providers]);
      }
    }
    for (const [name, providers] of lists) {
      const choices = providers.map((provider) => prefixed(provider, observe, keyServices));
      const transformer = new PrefixTransformer(choices, "no matching prefix found", observe);
      this.#byName.set(name, { transformer, encrypts: providers[0]?.kind !== "identity" });
    }
    this.described = [...lists].map(([resources, providers]) => ({
      resources,
      providers: providers.map(({ kind }) => kind),
    }));
  }

  /** Finds the most exact rule for a resource; undefined if there is none. */
  of(resource: GroupResource): ResourceTransformer | undefined {
    return (
      this.#byName.get(resourceNameText(resource)) ??
      this.#byName.get(resourceNameText({ ...anything, group: resource.group })) ??
      this.#byName.get(resourceNameText(anything))
    );
  }
}

/** Rejects a rule for resources that an earlier wildcard already contains. */
function refuseMasked(resource: GroupResource, earlier: ReadonlyMap<string, unknown>): void {
  for (const wildcard of [{ ...anything, group: resource.group }, anything]) {
    const name = resourceNameText(wildcard);
    if (!earlier.has(name)) continue;
    throw new Error(
      `resource ${JSON.stringify(resourceNameText(resource))} is masked by earlier rule ${JSON.stringify(name)}`,
    );
  }
}

function prefixed(
  provider: ProviderConfiguration,
  observe: TransformationObserver,
  keyServices: ReadonlyMap<string, Transformer>,
): PrefixedTransformer {
  switch (provider.kind) {
    case "identity":
      return { prefix: "", transformer: identity };
    case "aesgcm":
      return keyed(provider.keys, "aesgcm", "AES", (key) => new AesGcm(key), observe);
    case "aescbc":
      return keyed(provider.keys, "aescbc", "AES", (key) => new AesCbc(key), observe);
    case "secretbox":
      return keyed(provider.keys, "secretbox", "Secretbox", (key) => new Secretbox(key), observe);
    case "kms": {
      if (provider.apiVersion === "v1") throw new Error(v1Refusal);
      const transformer = keyServices.get(provider.name);
      if (transformer === undefined) throw new Error(`no key service is open for the KMS provider ${provider.name}`);
      return { prefix: `k8s:enc:kms:v2:${provider.name}:`, transformer };
    }
  }
}

/** Chooses among the keys of a provider by the name that follows its prefix. */
function keyed(
  keys: readonly NamedKey[],
  provider: string,
  title: string,
  cipher: (key: Uint8Array) => Transformer,
  observe: TransformationObserver,
): PrefixedTransformer {
  const choices = keys.map(({ name, bytes }) => ({ prefix: `${name}:`, transformer: cipher(bytes) }));
  const noMatch = `no matching key was found for the provided ${title} transformer`;
  return { prefix: `k8s:enc:${provider}:v1:`, transformer: new PrefixTransformer(choices, noMatch, observe) };
}

import type { TokenIssuer } from "../access/authentication/service-account/token-issuer.ts";
import type { TokenAuthenticator } from "../access/authentication/token-authenticator.ts";
import type { Authorizer } from "../access/authorization/authorizer.ts";
import type { TableRules } from "../api/codec/table/table-rules.ts";
import type { GroupResource } from "../api/gvk.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { NamedTypes } from "../api/scheme/generated/named-types.ts";
import type { GeneratedResource, GeneratedResources } from "../api/scheme/generated/resources.ts";
import type { Conversion, FitsType, LabelRules, ResourceInfo } from "../api/scheme/resource.ts";
import type { Clock } from "../process/clock.ts";
import type { Store } from "../storage/store.ts";
import type { Action } from "./action.ts";
import type { ComputedObjects } from "./computed-objects.ts";
import type { Connections } from "./endpoint.ts";
import type { ObjectView } from "./object-view.ts";
import type { Registry } from "./registry.ts";
import type { Strategy } from "./strategy.ts";

/** Rules and data of one kind, for all its versions, in addition to its generated facts. */
export interface Kind<T extends KubeObject = KubeObject> extends GroupResource {
  /** Endpoint of the resource itself. */
  readonly endpoint: DeclaredEndpoint<T>;
  /** Endpoints of its subresources, by name. */
  readonly subresources: ReadonlyMap<string, DeclaredEndpoint<T>>;
  /** Rules of its table; undefined for a kind without columns of its own. */
  readonly table?: TableRules<T> | undefined;
  /** Labels of field selectors; undefined if all of them are paths of fields. */
  readonly labels?: LabelRules | undefined;
  /** Defaults that are more than values. */
  readonly defaults?: DefaultsByType | undefined;
  /** Conversions by version, for versions whose fields differ from the stored ones. */
  readonly conversions?: Readonly<Record<string, (fits: FitsType) => Conversion>> | undefined;
  /** Texts for `kubectl explain`. */
  readonly descriptions?: DescriptionsByType | undefined;
  /** The objects hold confidential values, which no error may show. */
  readonly sensitive?: true | undefined;
  /** Annotation that represents a field of the spec. */
  readonly specAnnotation?: string | undefined;
}

/**
 * Rules that fill in absent fields, by type, such as `core/v1.PodSpec`. Each applies to every kind with that type, and
 * gets decoded objects, in which every field is present that its type requires.
 */
export type DefaultsByType = { readonly [N in keyof NamedTypes]?: (object: NamedTypes[N]) => void };

/** Texts by type and field; "" is the text about the type itself. */
export type DescriptionsByType = { readonly [N in keyof NamedTypes]?: TypeDescriptions<NamedTypes[N]> };

type TypeDescriptions<T> = { readonly [F in FieldOf<T> | ""]?: string };

type FieldOf<T> = [T] extends [JsonObject] ? keyof T : never;

/** An endpoint as a kind declares it: data, and functions of the parts of a running server. */
export type DeclaredEndpoint<T extends KubeObject = KubeObject> =
  | { readonly kind: "stored"; readonly strategy: Strategy<T> }
  | { readonly kind: "subresource"; readonly strategy: Strategy<T> }
  | { readonly kind: "view"; viewOf(info: ResourceInfo): ObjectView }
  | { readonly kind: "action"; make(parts: KindParts): Action }
  | { readonly kind: "computed"; make(parts: KindParts): ComputedObjects }
  | { readonly kind: "connection"; readonly connection: keyof Connections };

/** Parts of a running server that kinds use. */
export interface KindParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly authorizer: Authorizer;
  readonly tokens: TokenParts;
  readonly connections: Connections;
  /** Returns the registry of a stored built-in resource. */
  readonly registry: (resource: GroupResource) => Registry;
}

/** Parts that review and issue tokens. */
export interface TokenParts {
  readonly tokens: TokenAuthenticator;
  readonly issuer: TokenIssuer;
  readonly apiAudiences: readonly string[];
  /** Longest lifetime in seconds; 0 for no limit. */
  readonly maxExpirationSeconds: number;
  readonly extendsMounted: boolean;
}

/** A kind of the built-in API. */
export interface BuiltInKind<R extends GeneratedResource> extends Kind<GeneratedResources[R]["object"]> {
  /** `pods` or `deployments.apps`. */
  readonly name: R;
}

/** Endpoints of the resource and of each of its subresources. A missing one does not compile. */
type BuiltInRules<R extends GeneratedResource> = {
  readonly endpoint: DeclaredEndpoint<GeneratedResources[R]["object"]>;
  readonly table?: TableRules<GeneratedResources[R]["object"]> | undefined;
  readonly labels?: LabelRules;
  readonly defaults?: DefaultsByType;
  readonly conversions?: Readonly<Record<string, (fits: FitsType) => Conversion>>;
  readonly descriptions?: DescriptionsByType;
  readonly sensitive?: true;
  readonly specAnnotation?: string;
} & ([GeneratedResources[R]["subresources"]] extends [never]
  ? { readonly subresources?: never }
  : {
      readonly subresources: Readonly<
        Record<GeneratedResources[R]["subresources"], DeclaredEndpoint<GeneratedResources[R]["object"]>>
      >;
    });

/** @param name plural and group, such as `deployments.apps` */
export function builtInKind<R extends GeneratedResource>(name: R, rules: BuiltInRules<R>): BuiltInKind<R> {
  const dot = name.indexOf(".");
  const at = dot === -1 ? { group: "", resource: name } : { group: name.slice(dot + 1), resource: name.slice(0, dot) };
  const subresources = new Map<string, DeclaredEndpoint<GeneratedResources[R]["object"]>>(
    Object.entries(rules.subresources ?? {}),
  );
  return { ...rules, ...at, name, subresources };
}

/** Declares a resource whose objects are stored. */
export function stored<T extends KubeObject>(strategy: Strategy<T>): DeclaredEndpoint<T> {
  return { kind: "stored", strategy };
}

/** Declares a subresource that reads and writes the object of its path by rules of its own. */
export function subresource<T extends KubeObject>(strategy: Strategy<T>): DeclaredEndpoint<T> {
  return { kind: "subresource", strategy };
}

/** Declares a subresource that shows the object as a document of another kind. */
export function view(viewOf: (info: ResourceInfo) => ObjectView): DeclaredEndpoint {
  return { kind: "view", viewOf };
}

/** Declares a body that is posted and not itself stored. */
export function action(make: (parts: KindParts) => Action): DeclaredEndpoint {
  return { kind: "action", make };
}

/** Declares a resource whose objects are computed when they are read. */
export function computed(make: (parts: KindParts) => ComputedObjects): DeclaredEndpoint {
  return { kind: "computed", make };
}

export function connection(name: keyof Connections): DeclaredEndpoint {
  return { kind: "connection", connection: name };
}

/** Returns the rules of a subresource that writes the object of its path; undefined for any other. */
export function subresourceStrategyOf(kind: Kind, name: string): Strategy | undefined {
  const endpoint = kind.subresources.get(name);
  return endpoint?.kind === "subresource" ? endpoint.strategy : undefined;
}

/**
 * Returns the rules of a write to an object of the kind, or through one of its subresources.
 * @throws Error for a path without rules of its own
 */
export function strategyOf(kind: Kind, name = ""): Strategy {
  const endpoint = name === "" ? kind.endpoint : kind.subresources.get(name);
  if (endpoint?.kind === "stored" || endpoint?.kind === "subresource") return endpoint.strategy;
  throw new Error(`${kind.resource}/${name} has no rules for writes`);
}

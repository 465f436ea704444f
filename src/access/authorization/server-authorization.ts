import { readFileSync } from "node:fs";
import type { Key } from "../../api/entry.ts";
import type { ServedResources } from "../../api/scheme/served-resources.ts";
import type { JsonEndpoint } from "../../client/json-endpoint.ts";
import { inClusterEndpoint, kubeconfigEndpoint } from "../../client/kubeconfig-endpoint.ts";
import type { Clock } from "../../process/clock.ts";
import { followFile } from "../../process/follow-file.ts";
import type { Store } from "../../storage/store.ts";
import { abacAuthorizer } from "./abac/abac-authorizer.ts";
import { parseAbacPolicies } from "./abac/abac-policy.ts";
import { alwaysAllowAuthorizer } from "./always-allow.ts";
import { alwaysDenyAuthorizer } from "./always-deny.ts";
import {
  type ConfiguredAuthorizer,
  type ConfiguredWebhook,
  parseAuthorizationConfiguration,
} from "./authorization-configuration.ts";
import type { AuthorizationObserver } from "./authorization-observer.ts";
import type { AuthorizationOptions } from "./authorization-options.ts";
import type { Authorizer, Decision } from "./authorizer.ts";
import { joinTokenAuthorizer } from "./join-token-authorizer.ts";
import { nodeAuthorizer } from "./node/node-authorizer.ts";
import { NodeGraph } from "./node/node-graph.ts";
import { nodeRules } from "./rbac/bootstrap/cluster-roles.ts";
import { rulesOf } from "./rbac/bootstrap/default-objects.ts";
import { policyRules } from "./rbac/policy-rule.ts";
import { rbacAuthorizer } from "./rbac/rbac-authorizer.ts";
import { RbacPolicy } from "./rbac/rbac-policy.ts";
import { systemMastersAuthorizer } from "./system-masters.ts";
import { unionAuthorizer } from "./union.ts";
import { compileMatchCondition } from "./webhook/match-conditions.ts";
import { webhookAuthorizer } from "./webhook/webhook-authorizer.ts";

/** Interval of rereading the file, because not every file system reports changes. */
const rereadIntervalMs = 60_000;
const accessReviewPath = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

export interface AuthorizationParts {
  readonly options: AuthorizationOptions;
  readonly scheme: ServedResources;
  readonly store: Store;
  readonly clock: Clock;
  isGateOn(gate: string): boolean;
  /** Receives the error of a changed file that is unusable. The last good one stays in force. */
  onError(error: unknown): void;
  readonly observer?: AuthorizationObserver | undefined;
}

/** The authorizer, and the roles and bindings in every mode, because grants are always checked against them. */
export interface ServerAuthorization extends Disposable {
  readonly authorizer: Authorizer;
  readonly policy: RbacPolicy;
}

/** Opens authorization. @throws Error that names the flag, for a file that cannot be read or used */
export function openAuthorization(parts: AuthorizationParts): ServerAuthorization {
  return new Authorization(parts);
}

class Authorization implements ServerAuthorization {
  readonly policy: RbacPolicy;
  readonly authorizer: Authorizer;
  readonly #parts: AuthorizationParts;
  readonly #disposables = new DisposableStack();
  #types: ReadonlySet<string> = new Set();
  #current: Authorizer;
  #node: Authorizer | undefined;

  constructor(parts: AuthorizationParts) {
    const { scheme, store, options } = parts;
    this.#parts = parts;
    this.policy = new RbacPolicy(rbacPrefixes(scheme));
    this.#disposables.use(this.policy.follow(store));
    const { configFile } = options;
    this.#current = configFile === undefined ? this.#build(configuredBy(options)) : this.#open(configFile);
    this.authorizer = {
      authorize: (user, attributes) => this.#current.authorize(user, attributes),
      rulesFor: (user, namespace) =>
        this.#current.rulesFor?.(user, namespace) ?? { rules: [], incomplete: true, errors: [] },
    };
  }

  [Symbol.dispose](): void {
    this.#disposables.dispose();
  }

  #open(file: string): Authorizer {
    const { clock, onError } = this.#parts;
    const bytes = readOption("--authorization-config", file);
    const authorizer = named("--authorization-config", () => this.#build(this.#parse(bytes)));
    const change = (changed: Uint8Array) => {
      const { observer } = this.#parts;
      try {
        this.#reload(changed);
      } catch (error) {
        observer?.reloaded(false);
        throw error;
      }
      observer?.reloaded(true);
    };
    this.#disposables.use(followFile({ file, bytes, clock, intervalMs: rereadIntervalMs, onChange: change, onError }));
    return authorizer;
  }

  #parse(bytes: Uint8Array): readonly ConfiguredAuthorizer[] {
    return parseAuthorizationConfiguration(bytes);
  }

  /** Replaces the configuration. @throws Error if the new file is unusable */
  #reload(bytes: Uint8Array): void {
    const configured = this.#parse(bytes);
    for (const type of ["Node", "RBAC"]) {
      const isThere = configured.some((one) => one.type === type);
      if (isThere === this.#types.has(type)) continue;
      throw new Error(`the authorizer ${type} cannot be ${isThere ? "added" : "removed"} while the server runs`);
    }
    this.#current = this.#build(configured);
  }

  /**
   * Builds the authorizer. In every configuration, join tokens only allow joining, and members of `system:masters` may
   * do everything.
   */
  #build(configured: readonly ConfiguredAuthorizer[]): Authorizer {
    const authorizers = configured.map((one) => this.#observed(one, this.#authorizer(one)));
    this.#types = new Set(configured.map(({ type }) => type));
    return unionAuthorizer([joinTokenAuthorizer, systemMastersAuthorizer, ...authorizers]);
  }

  #observed({ type, name }: ConfiguredAuthorizer, authorizer: Authorizer): Authorizer {
    const { observer } = this.#parts;
    if (observer === undefined) return authorizer;
    const record = observer.decisions(type, name);
    const recorded = (decision: Decision) => {
      record(decision.kind);
      return decision;
    };
    return {
      ...authorizer,
      authorize(user, attributes) {
        const decision = authorizer.authorize(user, attributes);
        return decision instanceof Promise ? decision.then(recorded) : recorded(decision);
      },
    };
  }

  #authorizer(configured: ConfiguredAuthorizer): Authorizer {
    switch (configured.type) {
      case "AlwaysAllow":
        return alwaysAllowAuthorizer;
      case "AlwaysDeny":
        return alwaysDenyAuthorizer;
      case "RBAC":
        return rbacAuthorizer(this.policy);
      case "Node":
        return this.#nodeAuthorizer();
      case "ABAC":
        return this.#abacAuthorizer();
      case "Webhook":
        return this.#webhookAuthorizer(configured.name, configured.webhook);
    }
  }

  #nodeAuthorizer(): Authorizer {
    const { scheme, store, isGateOn } = this.#parts;
    if (this.#node === undefined) {
      const graph = new NodeGraph(nodePrefixes(scheme));
      this.#disposables.use(graph.follow(store));
      this.#node = nodeAuthorizer(graph, policyRules(rulesOf(nodeRules, isGateOn)));
    }
    return this.#node;
  }

  #abacAuthorizer(): Authorizer {
    const { policyFile } = this.#parts.options;
    if (policyFile === undefined) throw new Error("ABAC needs --authorization-policy-file");
    const text = new TextDecoder().decode(readOption("--authorization-policy-file", policyFile));
    return abacAuthorizer(named("--authorization-policy-file", () => parseAbacPolicies(text)));
  }

  #webhookAuthorizer(name: string, webhook: ConfiguredWebhook): Authorizer {
    const { clock, isGateOn } = this.#parts;
    return webhookAuthorizer({
      ...webhook,
      name,
      clock,
      endpoint: endpointOf(webhook),
      selectors: isGateOn("AuthorizeWithSelectors"),
      conditions: webhook.expressions.map(compileMatchCondition),
      observer: this.#parts.observer?.webhook(name),
    });
  }
}

/** Converts the modes of the command line to entries of a file. */
function configuredBy({ modes, webhook }: AuthorizationOptions): ConfiguredAuthorizer[] {
  return modes.map((type) => {
    const name = type.toLowerCase();
    if (type !== "Webhook") return { type, name };
    const { configFile: file = "", version, authorizedTtlMs, unauthorizedTtlMs } = webhook;
    return {
      type,
      name,
      webhook: {
        authorizedTtlMs,
        unauthorizedTtlMs,
        timeoutMs: 30_000,
        version,
        failurePolicy: "NoOpinion",
        connection: { type: "KubeConfigFile", file },
        expressions: [],
      },
    };
  });
}

function endpointOf({ connection }: ConfiguredWebhook): JsonEndpoint {
  try {
    if (connection.type === "InClusterConfig") return inClusterEndpoint(process.env, accessReviewPath);
    return kubeconfigEndpoint(connection.file);
  } catch (error) {
    throw new Error(`the authorization webhook cannot be reached: ${(error as Error).message}`);
  }
}

function readOption(flag: string, file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${flag}: cannot read ${file} (${(error as { code?: string }).code}): check the path`);
  }
}

function named<T>(flag: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new Error(`${flag}: ${(error as Error).message}`);
  }
}

/** Returns the key prefixes of the four kinds. A kind that is not served has no objects. */
function rbacPrefixes(scheme: ServedResources): ConstructorParameters<typeof RbacPolicy>[0] {
  const prefixOf = (resource: string) => storedAt(scheme, "rbac.authorization.k8s.io", resource);
  return {
    roles: prefixOf("roles"),
    clusterRoles: prefixOf("clusterroles"),
    roleBindings: prefixOf("rolebindings"),
    clusterRoleBindings: prefixOf("clusterrolebindings"),
  };
}

function nodePrefixes(scheme: ServedResources): ConstructorParameters<typeof NodeGraph>[0] {
  return {
    pods: storedAt(scheme, "", "pods"),
    persistentVolumes: storedAt(scheme, "", "persistentvolumes"),
    volumeAttachments: storedAt(scheme, "storage.k8s.io", "volumeattachments"),
    resourceSlices: storedAt(scheme, "resource.k8s.io", "resourceslices"),
    podCertificateRequests: storedAt(scheme, "certificates.k8s.io", "podcertificaterequests"),
  };
}

function storedAt(scheme: ServedResources, group: string, resource: string): Key {
  const info = scheme.resources.find((one) => one.group === group && one.resource === resource);
  return info?.keyPrefix ?? `/not-served/${group}/${resource}/`;
}

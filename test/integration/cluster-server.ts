import { afterAll } from "bun:test";
import { messageDecoder } from "../../src/access/audit/decode-message.ts";
import type { AuditEvent } from "../../src/access/audit/event.ts";
import { parseAuditPolicy } from "../../src/access/audit/parse-policy.ts";
import { eventText } from "../../src/access/audit/testing.ts";
import { openAuthentication } from "../../src/access/authentication/server-authentication.ts";
import { LastModes } from "../../src/access/authorization/impersonation.ts";
import { openAuthorization } from "../../src/access/authorization/server-authorization.ts";
import { ServerIdentity } from "../../src/access/certificates/identity.ts";
import { PeerIdentity } from "../../src/access/certificates/peer-identity.ts";
import type { PeerHealth } from "../../src/cluster/gossip/gossip.ts";
import { FakeCluster } from "../../src/cluster/testing.ts";
import { ensureDefaultRbac, rbacRegistries } from "../../src/controllers/default-rbac.ts";
import { buildApp } from "../../src/http/app.ts";
import { clusterPlugin } from "../../src/http/cluster/cluster-plugin.ts";
import { audit, auditResponse } from "../../src/http/filters/audit.ts";
import { impersonation } from "../../src/http/filters/impersonation.ts";
import { type Listener, listen } from "../../src/http/listener.ts";
import { builtInCatalog } from "../../src/kinds/built-in-catalog.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { parseServiceNetwork } from "../../src/kinds/service-allocation/service-network.ts";
import { type Clock, systemClock } from "../../src/process/clock.ts";
import type { Registries } from "../../src/registry/registries.ts";
import type { Handler, IncomingRequest } from "../../src/request/exchange.ts";
import { resolveOptions, type ServerOptions } from "../../src/server/config/server-options.ts";
import { openRegistries } from "../../src/server/registries.ts";
import { CacherSet } from "../../src/storage/cacher/cacher-set.ts";
import { MemoryStore } from "../../src/storage/memory-store.ts";

interface Parts {
  readonly cluster: FakeCluster;
  readonly store: MemoryStore;
  readonly registries: Registries;
  readonly identity: ServerIdentity;
  readonly peers: PeerIdentity;
  /** Method, path and credentials of all received requests. */
  readonly seen: string[];
  /** Audit events, at the highest level. */
  readonly audited: string[];
  /** The health of the other members, as gossip reports it. */
  readonly heard: Map<number, PeerHealth>;
  readonly listener: Listener;
  readonly disposables: AsyncDisposableStack;
}

export interface ClusterAnswer {
  readonly code: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: any;
}

const policy = parseAuditPolicy(
  Buffer.from('{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"RequestResponse"}]}'),
);
const notServed: Handler = () => ({ kind: "reply", code: 404, headers: [], body: new Uint8Array() });

/** The administration of a fake cluster, behind the listener and the filters of a real server. */
export class ClusterServer implements AsyncDisposable {
  readonly parts: Parts;
  readonly url: string;
  readonly ca: string;

  private constructor(parts: Parts) {
    this.parts = parts;
    this.url = `https://127.0.0.1:${parts.listener.port}`;
    this.ca = parts.identity.ca;
  }

  /** @param like a server of the same cluster, to share everything with */
  static async start(
    options: ServerOptions = {},
    cluster = new FakeCluster(),
    like?: ClusterServer,
  ): Promise<ClusterServer> {
    const config = resolveOptions({ authorizationMode: ["RBAC"], ...options, inMemory: true });
    const clock: Clock = config.clock ?? systemClock;
    const disposables = new AsyncDisposableStack();
    const onError = (error: unknown) => Promise.reject(error);
    const scheme = Scheme.builtIn({});
    const store = like?.parts.store ?? new MemoryStore({ clock });
    const cachers = disposables.adopt(new CacherSet({ store, clock }), (set) => set.close());
    const isGateOn = config.featureGates.enabled;
    const { authorizer } = disposables.use(
      openAuthorization({ options: config.authorization, scheme, store, clock, isGateOn, onError }),
    );
    const registries =
      like?.parts.registries ??
      openRegistries({
        catalog: builtInCatalog(scheme),
        store,
        cachers,
        clock,
        randomInt: () => 0,
        serviceNetwork: parseServiceNetwork("10.0.0.0/16", "30000-32767"),
        admissionPlugins: [],
      }).registries;
    const rbac = rbacRegistries(registries);
    if (rbac !== undefined) await ensureDefaultRbac(rbac, clock, isGateOn);
    const identity = like?.parts.identity ?? (await ServerIdentity.open(config));
    const peers =
      like?.parts.peers ?? (await PeerIdentity.open({ directory: undefined, memberId: cluster.self, clock }));
    const { authenticator } = disposables.use(
      openAuthentication({
        options: config.authentication,
        ownTokens: identity.tokenFile,
        ownSigningKey: identity.serviceAccountKey,
        scheme,
        store,
        clock,
        certificateUids: false,
        onError,
      }),
    );
    const audited: string[] = [];
    const heard = new Map<number, PeerHealth>();
    const backend = { write: (event: AuditEvent) => void audited.push(eventText(event)), close: async () => {} };
    const auditing = { policy, backend, clock, decodeProtobuf: messageDecoder(scheme), onError };
    const secrets = registries.builtIn({ group: "", resource: "secrets" });
    const handle = buildApp({
      chain: {
        clock,
        authenticator,
        authorizer,
        afterAuthentication: [
          audit(auditing),
          impersonation({ authorizer, constrained: false, lastModes: new LastModes() }),
        ],
        onAnswer: [auditResponse(auditing)],
      },
      health: notServed,
      metrics: notServed,
      version: notServed,
      resources: notServed,
      plugins: [
        clusterPlugin({
          cluster,
          secrets,
          store,
          clock,
          identity,
          peers: () => peers,
          version: "1.2.3",
          encryption: () => ({ resources: [], unreadable: 0 }),
          heard: () => heard,
        }),
      ],
    });
    const seen: string[] = [];
    const record = (request: IncomingRequest) => {
      seen.push(`${request.method} ${request.rawPath}`);
      return handle(request);
    };
    const listener = await listen({ host: "127.0.0.1", port: 0, tls: identity.tls(), handle: record, onError });
    return new ClusterServer({
      cluster,
      store,
      registries,
      identity,
      peers,
      seen,
      audited,
      heard,
      listener,
      disposables,
    });
  }

  /** @param token the administrator's by default; "" for none */
  async request(
    method: string,
    path: string,
    body?: unknown,
    { token = this.parts.identity.token, headers = {} }: { token?: string; headers?: Record<string, string> } = {},
  ): Promise<ClusterAnswer> {
    const response = await fetch(this.url + path, {
      method,
      redirect: "manual",
      tls: { ca: this.ca },
      headers: {
        "content-type": "application/json",
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      code: response.status,
      headers: response.headers,
      text,
      get json() {
        return JSON.parse(text);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.parts.listener.close(0);
    await this.parts.disposables.disposeAsync();
  }
}

/** Starts servers that are closed after the tests of the file. */
export function clusterServers(): typeof ClusterServer.start {
  const open = new AsyncDisposableStack();
  afterAll(() => open.disposeAsync());
  return async (...args) => open.use(await ClusterServer.start(...args));
}

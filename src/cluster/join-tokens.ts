import { hasExpired } from "../access/authentication/bootstrap-token.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { removeObject } from "../registry/remove-object.ts";
import type { WriteContext } from "../registry/write-context.ts";
import type { UserInfo } from "../request/user-info.ts";
import type { MemberNumber } from "../storage/cluster.ts";
import type { Store } from "../storage/store.ts";
import {
  type JoinToken,
  type JoinTokenInfo,
  joinTokenName,
  joinTokenNamespace,
  joinTokenSecret,
  newJoinToken,
  readJoinTokenSecret,
} from "./join-token.ts";

export interface JoinTokensParts {
  readonly secrets: Registry;
  readonly store: Pick<Store, "scan">;
  readonly clock: Clock;
  /** Returns a key that only members have. It proves that a member made a Secret. */
  readonly proofKey: () => string;
}

export interface NewJoinToken {
  readonly lifetimeMs: number;
  readonly description: string;
  readonly member: MemberNumber | undefined;
}

/** The tokens that let machines join. They are stored as Secrets that expire. */
export class JoinTokens {
  readonly #parts: JoinTokensParts;

  constructor(parts: JoinTokensParts) {
    this.#parts = parts;
  }

  async create(request: NewJoinToken, user: UserInfo): Promise<JoinToken & JoinTokenInfo> {
    const { clock, secrets, proofKey } = this.#parts;
    const token = newJoinToken();
    const expirationMs = clock.nowMs() + request.lifetimeMs;
    const secret = joinTokenSecret(token, { ...request, expirationMs }, proofKey());
    await secrets.create(secret, joinTokenNamespace, contextOf(user));
    return { ...token, ...(this.#read(secret) as JoinTokenInfo) };
  }

  /** Returns the tokens that are valid now. */
  list(): JoinTokenInfo[] {
    const { secrets, store } = this.#parts;
    const entries = store.scan(secrets.keyOf(joinTokenNamespace, joinTokenName("")));
    return entries.flatMap(({ key }) => this.find(key.slice(key.lastIndexOf("-") + 1)) ?? []);
  }

  /** Finds a token. Returns undefined if it is missing, expired or not ours. */
  find(id: string): JoinTokenInfo | undefined {
    const secret = this.#parts.secrets.current(joinTokenNamespace, joinTokenName(id));
    return secret === undefined ? undefined : this.#read(secret);
  }

  /** Consumes a token. Returns false if another request consumed it first: a single-use token works once. */
  async consume(id: string, user: UserInfo): Promise<boolean> {
    const { secrets } = this.#parts;
    const secret = secrets.current(joinTokenNamespace, joinTokenName(id));
    if (secret === undefined || this.#read(secret) === undefined) return false;
    return removeObject(secrets, secret, contextOf(user));
  }

  #read(secret: KubeObject): JoinTokenInfo | undefined {
    const info = readJoinTokenSecret(secret, this.#parts.proofKey());
    if (info === undefined || secret.metadata.deletionTimestamp !== undefined) return undefined;
    return hasExpired(info.expiration, this.#parts.clock.nowMs()) ? undefined : info;
  }
}

function contextOf(user: UserInfo): WriteContext {
  return { user, manager: "quorate", dryRun: false, warn() {} };
}

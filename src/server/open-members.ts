import { type Gossip, noGossip } from "../cluster/gossip/gossip.ts";
import { openMemberGossip } from "../cluster/member-gossip.ts";
import { startSelfPromotion } from "../cluster/self-promotion.ts";
import { failingChecks } from "../http/health.ts";
import { gitVersion } from "../http/version.ts";
import { gossipMetrics } from "./metrics/gossip-metrics.ts";
import { nameMembers } from "./name-members.ts";
import type { ServerApi } from "./open-api.ts";
import type { ServerHttp } from "./open-http.ts";
import type { ServerCredentials } from "./open-identity.ts";
import type { StartContext } from "./start-context.ts";

/** The other members of the cluster, as far as this one knows. */
export interface ServerMembers extends AsyncDisposable {
  readonly gossip: Gossip;
}

export interface MembersParts extends StartContext {
  readonly api: ServerApi;
  readonly credentials: ServerCredentials;
  readonly http: ServerHttp;
}

/** Announces this member, opens gossip and asks to become a voter. Does nothing without a cluster. */
export async function openMembers(context: MembersParts): Promise<ServerMembers> {
  await using parts = new AsyncDisposableStack();
  const { config, log, api, credentials, http, onError } = context;
  const { member } = context.storage;
  if (member === undefined) return { gossip: noGossip, [Symbol.asyncDispose]: async () => undefined };
  const { clock, membership } = config;
  let gossip = noGossip;
  const { onDropped } = gossipMetrics(api.metrics.registry, () => gossip.peers());
  const opened = await openMemberGossip({
    member,
    membership,
    clock,
    log,
    failing: () => failingChecks({ clock, checks: http.checks }, "readyz"),
    release: gitVersion,
    onDropped,
  });
  gossip = parts.use(opened.gossip);
  parts.use(gossip.onInvalidate(() => credentials.authentication.doubtIssuerKeys()));
  member.announce(http.port, opened.contact).catch(onError);
  const { cluster, directory } = member;
  const { identity } = credentials;
  parts.use(nameMembers({ cluster, clock, identity, onError }));
  const onProgress = (message: string, fields: Readonly<Record<string, unknown>>) => log.info(message, fields);
  parts.use(startSelfPromotion({ cluster, directory, clock, identity, onProgress }));
  const kept = parts.move();
  return { gossip, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

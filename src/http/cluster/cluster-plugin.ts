import type { KeyPair } from "../../access/certificates/authority.ts";
import type { SharedSecrets } from "../../access/certificates/shared-secrets.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { StatusError, status, successStatus } from "../../api/status.ts";
import { addMember, admitMember, JoinRefusedError } from "../../cluster/admit-member.ts";
import {
  type AuthorityHolder,
  authorityStatus,
  parseRotationStep,
  takeRotationStep,
} from "../../cluster/authority-status.ts";
import type { Gossip } from "../../cluster/gossip/gossip.ts";
import { servingMembers } from "../../cluster/gossip/serving-members.ts";
import { parseNewMember } from "../../cluster/join-protocol.ts";
import { joinTokenText } from "../../cluster/join-token.ts";
import { JoinTokens, type NewJoinToken } from "../../cluster/join-tokens.ts";
import { removeMember } from "../../cluster/remove-member.ts";
import type { ReplicaEncryption } from "../../cluster/replica-answer.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import { type Exchange, type HttpResponse, header } from "../../request/exchange.ts";
import { type Cluster, ClusterError, type MemberNumber } from "../../storage/cluster.ts";
import type { Store } from "../../storage/store.ts";
import type { AppPlugin } from "../app.ts";
import { decodeBody } from "../decode-body.ts";
import { clusterStatusError } from "./cluster-error.ts";
import { SnapshotStreams } from "./snapshot-streams.ts";

const bodyBytesMax = 64 * 1024;
const tokenSecondsDefault = 3_600;
const tokenSecondsMax = 24 * 3_600;
const descriptionLengthMax = 256;
const busy = "the authority of the members is being replaced";

export interface ClusterPluginParts {
  readonly cluster: Cluster;
  /** The registry of Secrets, which hold the tokens of new members. */
  readonly secrets: Registry;
  readonly store: Pick<Store, "scan">;
  readonly clock: Clock;
  readonly identity: AuthorityHolder & {
    /** A secret that only replicas have. It outlives the authorities. */
    readonly serviceAccountKey: string;
    /** Hashes by which a new member recognises this cluster. */
    readonly caHash: string;
    sharedSecrets(peerAuthority: KeyPair): SharedSecrets;
  };
  /** Returns the identity for connections between members. @throws ClusterError if this server cannot have members */
  readonly peers: () => AuthorityHolder;
  /** Version of this program. */
  readonly version: string;
  /** Reports how this replica encrypts objects. */
  readonly encryption: () => ReplicaEncryption;
  /** Reports of the other members about their health. */
  readonly heard: Gossip["peers"];
}

/** Serves the administration of the cluster below `/cluster/`. Only the leader makes changes; the others answer with its URL. */
export function clusterPlugin(parts: ClusterPluginParts): AppPlugin {
  const { cluster, clock, secrets, store, identity, peers, version, encryption, heard } = parts;
  const desk: Desk = {
    cluster,
    version,
    encryption,
    heard,
    tokens: new JoinTokens({ secrets, store, clock, proofKey: () => identity.serviceAccountKey }),
    identity,
    peers,
    secrets() {
      const holder = peers();
      if (authorityStatus(holder).phase !== "none")
        throw new ClusterError("conflict", `${busy}: wait until that is done`);
      return identity.sharedSecrets(holder.rotating.authority);
    },
    caHash: () => identity.caHash,
    snapshots: new SnapshotStreams(cluster),
  };
  return {
    name: "cluster",
    paths: [...new Set([...paths].map((path) => `/cluster/${path.replace(/<id>.*/, "*")}`))],
    async handle(exchange) {
      try {
        return await answer(desk, exchange);
      } catch (error) {
        if (error instanceof ClusterError) throw clusterStatusError(error, cluster, heard());
        if (error instanceof JoinRefusedError) throw status.forbiddenPath(error.message);
        throw error;
      }
    },
  };
}

/** The state that all requests to one server share. */
interface Desk {
  readonly cluster: Cluster;
  readonly version: string;
  readonly encryption: ClusterPluginParts["encryption"];
  readonly heard: Gossip["peers"];
  readonly tokens: JoinTokens;
  readonly identity: AuthorityHolder;
  readonly peers: () => AuthorityHolder;
  /** @throws ClusterError if machines cannot join at the moment */
  readonly secrets: () => SharedSecrets;
  readonly caHash: () => string;
  readonly snapshots: SnapshotStreams;
}

function answer(desk: Desk, exchange: Exchange): HttpResponse | Promise<HttpResponse> {
  const { info, request } = exchange;
  const method = request.method === "HEAD" ? "GET" : request.method;
  const [name = "", id, action, ...more] = info.path.slice("/cluster/".length).split("/");
  const member = id === undefined ? undefined : memberNumber(id);
  if (more.length > 0 || (id !== undefined && (name !== "members" || member === undefined))) {
    throw status.pathNotFound();
  }
  const path = `${name}${id === undefined ? "" : "/<id>"}${action === undefined ? "" : `/${action}`}`;
  if (!paths.has(path)) throw status.pathNotFound();
  const run = routes.get(`${method} ${path}`);
  if (run === undefined) throw status.methodNotAllowed();
  return run({ ...desk, exchange, id: member ?? 0 });
}

interface Call extends Desk {
  readonly exchange: Exchange;
  /** Returns the id of the member in the path. */
  readonly id: MemberNumber;
}
type Run = (call: Call) => HttpResponse | Promise<HttpResponse>;

/** All routes below `/cluster/`. */
const routes = new Map<string, Run>([
  ["GET status", showStatus],
  ["GET members", listMembers],
  ["POST members", addLearner],
  ["DELETE members/<id>", deleteMember],
  ["POST members/<id>/promote", promoteMember],
  ["POST leader", transferLeadership],
  ["GET snapshot", ({ snapshots, exchange }) => snapshots.reply(exchange)],
  ["GET tokens", ({ tokens }) => json(200, { items: tokens.list() })],
  ["POST tokens", createToken],
  ["POST join", join],
  ["GET authority", ({ identity }) => json(200, authorityStatus(identity))],
  ["POST authority", ({ identity, exchange }) => changeAuthority(identity, exchange)],
  ["GET peer-authority", ({ peers }) => json(200, authorityStatus(peers()))],
  ["POST peer-authority", ({ peers, exchange }) => changeAuthority(peers(), exchange)],
]);
const paths: ReadonlySet<string> = new Set([...routes.keys()].map((route) => route.slice(route.indexOf(" ") + 1)));

function showStatus({ cluster, version, encryption, heard }: Call): HttpResponse {
  const gossip = [...heard()].map(([member, health]) => ({ member, ...health }));
  return json(200, { ...cluster.status(), version, encryption: encryption(), gossip });
}

function listMembers({ cluster }: Call): HttpResponse {
  const { clusterId, leader, members } = cluster.status();
  return json(200, { clusterId, leader, members });
}

/** Records a member in advance, and makes the token with which it joins. */
async function addLearner({ cluster, tokens, caHash, secrets, exchange }: Call): Promise<HttpResponse> {
  const wanted = orBadRequest(parseNewMember, await bodyOf(exchange));
  secrets();
  const member = await addMember(cluster, wanted);
  const description = `for member ${member.id} (${member.name})`;
  const request = { lifetimeMs: tokenSecondsDefault * 1_000, description, member: member.id };
  const token = await tokens.create(request, exchange.user);
  return json(201, { member, token: joinTokenText(token), expiration: token.expiration, caHash: caHash() });
}

async function deleteMember({ cluster, id }: Call): Promise<HttpResponse> {
  await removeMember(cluster, id);
  return json(200, successStatus());
}

async function promoteMember({ cluster, id }: Call): Promise<HttpResponse> {
  await cluster.promote(id);
  return json(200, successStatus());
}

async function transferLeadership({ cluster, exchange }: Call): Promise<HttpResponse> {
  const { to } = await bodyOf(exchange);
  if (typeof to !== "number" || !Number.isSafeInteger(to)) throw status.badRequest("to: the id of a member is missing");
  await cluster.transferLeadership(to);
  return json(200, successStatus());
}

async function createToken({ tokens, caHash, cluster, secrets, heard, exchange }: Call): Promise<HttpResponse> {
  const request = orBadRequest(parseTokenRequest, await bodyOf(exchange));
  secrets();
  const token = await tokens.create(request, exchange.user);
  const endpoints = servingMembers(cluster.members(), heard(), cluster.self).map(({ clientUrl }) => clientUrl);
  return json(201, { token: joinTokenText(token), expiration: token.expiration, caHash: caHash(), endpoints });
}

/** Takes a rotation step on this member only. The caller asks all members in turn. */
async function changeAuthority(holder: AuthorityHolder, exchange: Exchange): Promise<HttpResponse> {
  await takeRotationStep(holder, orBadRequest(parseRotationStep, await bodyOf(exchange)));
  return json(200, authorityStatus(holder));
}

async function join(call: Call): Promise<HttpResponse> {
  const { exchange } = call;
  if (exchange.impersonation !== undefined) throw new JoinRefusedError("join tokens cannot be used by another user");
  const wanted = orBadRequest(parseNewMember, await bodyOf(exchange));
  return json(201, await admitMember(call, wanted, exchange.user));
}

function parseTokenRequest({ ttlSeconds = tokenSecondsDefault, description = "" }: JsonObject): NewJoinToken {
  if (
    typeof ttlSeconds !== "number" ||
    !Number.isInteger(ttlSeconds) ||
    ttlSeconds < 1 ||
    ttlSeconds > tokenSecondsMax
  ) {
    throw new Error(`ttlSeconds must be an integer from 1 to ${tokenSecondsMax}`);
  }
  if (typeof description !== "string" || description.length > descriptionLengthMax) {
    throw new Error(`description must be a text of at most ${descriptionLengthMax} characters`);
  }
  return { lifetimeMs: ttlSeconds * 1_000, description, member: undefined };
}

/** Reads a JSON object, even without a Content-Type. The Content-Types of web forms are refused. */
async function bodyOf({ request }: Exchange): Promise<JsonObject> {
  const bytes = await request.body();
  if (bytes.length > bodyBytesMax) throw status.requestEntityTooLarge(bodyBytesMax);
  if (bytes.length === 0) return {};
  const decoded = await decodeBody(bytes, header(request, "content-type"), {
    strict: false,
    accepted: ["application/json"],
    cbor: false,
  });
  const value: JsonValue | undefined = decoded.kind === "document" ? decoded.value : undefined;
  if (!isJsonObject(value)) throw status.badRequest("the body must be a JSON object");
  return value;
}

function orBadRequest<T>(parse: (value: JsonObject) => T, value: JsonObject): T {
  try {
    return parse(value);
  } catch (error) {
    throw error instanceof StatusError ? error : status.badRequest((error as Error).message);
  }
}

function memberNumber(text: string): MemberNumber | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

function json(code: number, value: object): HttpResponse {
  const body = new TextEncoder().encode(`${JSON.stringify(value)}\n`);
  return {
    kind: "reply",
    code,
    headers: [
      ["content-type", "application/json"],
      ["cache-control", "no-store"],
    ],
    body,
  };
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type JoinToken, parseJoinToken } from "../../cluster/join-token.ts";
import { parseClientUrl } from "../../cluster/member-address.ts";
import { requestJoin } from "../../cluster/request-join.ts";
import { askForPromotion } from "../../cluster/self-promotion.ts";
import { clientUrlOf } from "../../cluster/membership.ts";
import { resolveOptions, type ServerOptions } from "../../server/config/server-options.ts";
import { StartupError } from "../../process/startup-error.ts";
import { parsePin } from "../../access/certificates/certificate-pin.ts";
import { writeSharedSecrets } from "../../access/certificates/shared-secrets.ts";
import { prepareMember } from "../../storage/replicated/prepare-replica.ts";
import type { Terminal } from "../terminal.ts";
import { up } from "../up.ts";
import { newMemberDirectory } from "./init.ts";

const progressVerbosity = 1;

export interface JoinOptions {
  /** URL of any member. */
  readonly endpoint: string;
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  readonly caHash: string | undefined;
  /** Never vote. */
  readonly learner: boolean;
}

/** `quorate cluster join`: from then on the member is started with `quorate up` and the same flags of the server. */
export async function joinCluster(options: ServerOptions, request: JoinOptions, terminal: Terminal): Promise<number> {
  const directory = newMemberDirectory(options);
  const { membership, securePort } = resolveOptions(options);
  const { peerAddress: peerAddressText } = options;
  const clientUrl = securePort === 0 ? membership.clientUrl : clientUrlOf(membership, securePort);
  if (clientUrl === undefined) {
    throw new StartupError(
      "--secure-port: others have to know the port of a member: give one, or --advertise-client-url",
    );
  }
  const endpoint = named("the URL to join", () => parseClientUrl(request.endpoint));
  const token = tokenOf(request);
  const caHash = named("--ca-hash", () => parsePin(request.caHash ?? ""));
  terminal.complain(`asking ${endpoint} to become a member named ${membership.name}`);
  const member = { name: membership.name, peerAddress: peerAddressText ?? "", clientUrl };
  const answer = await requestJoin({ endpoint, token, caHash, member });
  const { clusterId, members, secrets } = answer;
  await prepareMember(directory, { clusterId, id: answer.member.id, seeds: members });
  await writeSharedSecrets(join(directory, "pki"), secrets);
  if (!request.learner) await askForPromotion(directory);
  terminal.complain(`member ${answer.member.id} of a cluster of ${members.length}; taking over its state`);
  // This once, the log tells how it comes along.
  return up({ ...options, verbosity: options.verbosity ?? progressVerbosity }, terminal);
}

function tokenOf({ token, tokenFile }: JoinOptions): JoinToken {
  if (token !== undefined && tokenFile !== undefined)
    throw new StartupError("--token and --token-file: give one of them");
  if (token !== undefined) return named("--token", () => parseJoinToken(token));
  if (tokenFile === undefined) {
    throw new StartupError('--token: give what "quorate cluster token create" has printed on a member');
  }
  return named("--token-file", () => parseJoinToken(readFileSync(tokenFile, "utf8").trim()));
}

function named<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new StartupError(`${what}: ${(error as Error).message}`);
  }
}

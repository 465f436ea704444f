import { join } from "node:path";
import { parsePin } from "../../access/certificates/certificate-pin.ts";
import { writeSharedSecrets } from "../../access/certificates/shared-secrets.ts";
import { parseClientUrl } from "../../cluster/member-address.ts";
import { clientUrlOf } from "../../cluster/membership.ts";
import { requestJoin } from "../../cluster/request-join.ts";
import { askForPromotion } from "../../cluster/self-promotion.ts";
import { orStartupError } from "../../process/or-startup-error.ts";
import { StartupError } from "../../process/startup-error.ts";
import { resolveOptions, type ServerOptions } from "../../server/config/server-options.ts";
import { prepareMember } from "../../storage/replicated/prepare-replica.ts";
import { type JoinTokenFlags, joinTokenOf } from "../join-token-flags.ts";
import type { Terminal } from "../terminal.ts";
import { up } from "../up.ts";
import { newMemberDirectory } from "./init.ts";

const progressVerbosity = 1;

export interface JoinOptions extends JoinTokenFlags {
  /** The URL of any member. */
  readonly endpoint: string;
  readonly caHash: string | undefined;
  /** Whether the member never votes. */
  readonly learner: boolean;
}

/** Runs `quorate cluster join`. Later starts use `quorate up` and the same server flags. */
export async function joinCluster(options: ServerOptions, request: JoinOptions, terminal: Terminal): Promise<number> {
  const directory = newMemberDirectory(options);
  const { membership, securePort } = resolveOptions(options);
  const { peerAddress: peerAddressText } = options;
  const clientUrl = securePort === 0 ? membership.clientUrl : clientUrlOf(membership, securePort);
  if (clientUrl === undefined) {
    throw new StartupError("--secure-port: the other members need a fixed port: give one, or --advertise-client-url");
  }
  const endpoint = orStartupError("the URL to join", () => parseClientUrl(request.endpoint));
  const token = joinTokenOf(request, '"quorate cluster token create" printed on a member');
  const caHash = orStartupError("--ca-hash", () => parsePin(request.caHash ?? ""));
  terminal.complain(`asking ${endpoint} to join as member ${membership.name}`);
  const member = { name: membership.name, peerAddress: peerAddressText ?? "", clientUrl };
  const answer = await requestJoin({ endpoint, token, caHash, member });
  const { clusterId, members, secrets } = answer;
  await prepareMember(directory, { clusterId, id: answer.member.id, seeds: members });
  await writeSharedSecrets(join(directory, "pki"), secrets);
  if (!request.learner) await askForPromotion(directory);
  terminal.complain(`joined as member ${answer.member.id}, in a cluster of ${members.length}; receiving its state`);
  // Log the progress of this first start.
  return up({ ...options, verbosity: options.verbosity ?? progressVerbosity }, terminal);
}

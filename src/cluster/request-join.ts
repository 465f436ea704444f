import type { CertificatePin } from "../access/certificates/certificate-pin.ts";
import { ClusterRequestError, readAnswer, sendJson, untilAnswered } from "./cluster-client.ts";
import { type JoinAnswer, type NewMember, parseJoinAnswer } from "./join-protocol.ts";
import { type JoinToken, joinTokenText } from "./join-token.ts";
import { pinnedAuthority } from "./pinned-authority.ts";

export interface JoinRequest {
  /** URL of any member as `https://host:port`. */
  readonly endpoint: string;
  readonly token: JoinToken;
  readonly caHash: CertificatePin;
  readonly member: NewMember;
}

/**
 * Asks a member, and then the leader, to admit this machine. The token goes only to a server whose authority has the
 * hash.
 * @throws ClusterRequestError
 */
export async function requestJoin({ endpoint, token, caHash, member }: JoinRequest): Promise<JoinAnswer> {
  const answer = await untilAnswered(endpoint, async (url) => {
    const ca = await pinnedAuthority(url, caHash);
    const response = await sendJson(url, {
      method: "POST",
      path: "/cluster/join",
      body: { ...member },
      authorization: `Bearer ${joinTokenText(token)}`,
      tls: { ca, rejectUnauthorized: true },
    });
    if (response.status === 401) {
      throw new ClusterRequestError("the token was not accepted: it is wrong, already used, or expired");
    }
    return readAnswer(response);
  });
  try {
    return parseJoinAnswer(answer);
  } catch (error) {
    throw new ClusterRequestError(`the answer of ${endpoint} cannot be used: ${(error as Error).message}`);
  }
}

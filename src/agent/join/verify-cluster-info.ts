import { createHmac, timingSafeEqual } from "node:crypto";
import { type CertificatePin, pinsOf } from "../../access/certificates/certificate-pin.ts";
import { certificateBlocks } from "../../access/certificates/pem.ts";
import { parseYaml } from "../../api/codec/yaml.ts";
import { isJsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { ConfigMap } from "../../api/types/core-v1.ts";
import type { JoinToken } from "../../cluster/join-token.ts";

/** The only algorithm of these signatures. A header that names another one is refused. */
const algorithm = "HS256";

/**
 * Returns the authority, as PEM, that a cluster's public ConfigMap names. Its contents are trusted if their authority
 * has the hash, and if they carry a valid signature made with the token. One of both is enough, but neither may be wrong.
 * @throws Error that states the problem and never quotes the token
 */
export function verifyClusterInfo(
  { data = {} }: ConfigMap,
  token: JoinToken,
  caHash: CertificatePin | undefined,
): string {
  const kubeconfig = data["kubeconfig"];
  if (kubeconfig === undefined) throw new Error("the ConfigMap kube-public/cluster-info has no kubeconfig");
  const signature = data[`jws-kubeconfig-${token.id}`];
  if (signature !== undefined && !isSigned(kubeconfig, signature, token)) {
    throw new Error("cluster-info is not signed with this token: it is wrong, or another server answered");
  }
  const authority = authorityIn(kubeconfig);
  if (caHash === undefined) {
    if (signature !== undefined) return authority;
    throw new Error(
      "cluster-info is not signed with this token: it is wrong or has expired, or the server signs nothing; give --ca-hash",
    );
  }
  if (pinsOf(authority).includes(caHash)) return authority;
  throw new Error(`no authority in cluster-info has the hash ${caHash}: another server answered`);
}

/** Checks a JWS without its payload, RFC 7515 appendix F. The key is the secret of the token, or the whole token. */
function isSigned(payload: string, signature: string, { id, secret }: JoinToken): boolean {
  const [header = "", body, mac = "", ...rest] = signature.split(".");
  if (body !== "" || rest.length > 0) return false;
  const { alg, kid } = objectOf(parsed(Buffer.from(header, "base64url").toString("utf8")));
  if (alg !== algorithm || kid !== id) return false;
  const content = `${header}.${Buffer.from(payload).toString("base64url")}`;
  const given = Buffer.from(mac, "base64url");
  return [secret, `${id}.${secret}`].some((key) => {
    const right = createHmac("sha256", key).update(content).digest();
    return right.length === given.length && timingSafeEqual(right, given);
  });
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function authorityIn(kubeconfig: string): string {
  const config = parseYaml(Buffer.from(kubeconfig), { strict: false }).value;
  const [entry] = objectsOf(isJsonObject(config) ? config["clusters"] : undefined);
  const pem = Buffer.from(textOf(objectOf(entry?.["cluster"])["certificate-authority-data"]), "base64").toString();
  if (certificateBlocks(pem).length === 0) throw new Error("the kubeconfig in cluster-info names no authority");
  return pem;
}

import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { join } from "node:path";
import { StartupError } from "../../process/startup-error.ts";
import { readPrivateFile, writePrivateFile } from "../../access/certificates/private-file.ts";
import { type PeerId, peerIdOf } from "./peer-id.ts";

/** How a replica proves to the others that a message is its own. */
export interface GossipIdentity {
  readonly peerId: PeerId;
  /** Ed25519: the seed, then the public key; 64 bytes. */
  readonly privateKey: Uint8Array;
  /**
   * Greater at every start with the same key, whatever the clock says: what an earlier run has signed is never newer than
   * what this one signs.
   */
  readonly incarnation: number;
}

const keyFile = "gossip.key";
const incarnationFile = "gossip.incarnation";

/**
 * The key in `directory`, made the first time; without a directory a new one, which nobody has heard of.
 * @throws StartupError for a key file that others may read, or that holds no such key
 */
export async function openGossipIdentity(directory: string | undefined, nowMs: number): Promise<GossipIdentity> {
  if (directory === undefined) return identityOf(newKey(), nowMs);
  const path = join(directory, keyFile);
  const kept = await readPrivateFile(path);
  const key = kept === undefined ? newKey() : parseKey(kept, path);
  if (kept === undefined) await writePrivateFile(path, key.export({ type: "pkcs8", format: "pem" }) as string);
  return identityOf(key, await nextIncarnation(join(directory, incarnationFile), nowMs));
}

async function nextIncarnation(path: string, nowMs: number): Promise<number> {
  const last = Number((await readPrivateFile(path)) ?? 0);
  const next = Number.isSafeInteger(last) && last >= nowMs ? last + 1 : nowMs;
  await writePrivateFile(path, `${next}\n`);
  return next;
}

function newKey(): KeyObject {
  return generateKeyPairSync("ed25519").privateKey;
}

function parseKey(pem: string, path: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // Not a key at all: told below.
  }
  throw new StartupError(`${path} holds no Ed25519 key: remove it to get a new one`);
}

function identityOf(key: KeyObject, incarnation: number): GossipIdentity {
  const { d = "", x = "" } = key.export({ format: "jwk" });
  const publicKey = Buffer.from(x, "base64url");
  const privateKey = Buffer.concat([Buffer.from(d, "base64url"), publicKey]);
  return { peerId: peerIdOf(publicKey), privateKey, incarnation };
}

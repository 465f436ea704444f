import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { join } from "node:path";
import { readPrivateFile, writePrivateFile } from "../../access/certificates/private-file.ts";
import { StartupError } from "../../process/startup-error.ts";
import { type PeerId, peerIdOf } from "./peer-id.ts";

/** The identity with which a replica signs its messages. */
export interface GossipIdentity {
  readonly peerId: PeerId;
  /** Ed25519 key: the seed, then the public key; 64 bytes. */
  readonly privateKey: Uint8Array;
  /**
   * A number that grows at every start with the same key, whatever the clock says. Messages of an earlier run are
   * therefore never newer than those of this run.
   */
  readonly incarnation: number;
}

const keyFile = "gossip.key";
const incarnationFile = "gossip.incarnation";

/**
 * Opens the key in `directory`, and creates it the first time. Returns a new key if there is no directory.
 * @throws StartupError if others may read the key file, or if it holds no such key
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
    // The error below reports it.
  }
  throw new StartupError(`${path} does not hold an Ed25519 key: remove it to get a new one`);
}

function identityOf(key: KeyObject, incarnation: number): GossipIdentity {
  const { d = "", x = "" } = key.export({ format: "jwk" });
  const publicKey = Buffer.from(x, "base64url");
  const privateKey = Buffer.concat([Buffer.from(d, "base64url"), publicKey]);
  return { peerId: peerIdOf(publicKey), privateKey, incarnation };
}

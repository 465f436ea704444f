import { statfs } from "node:fs/promises";
import type { ContainerImage } from "../../../api/types/core-v1.ts";
import { type ImageStore, RuntimeError, type StoredImage } from "../runtime.ts";
import type { CriClient } from "./cri-client.ts";
import type { Draft } from "./messages.ts";
import type { ImageUser } from "./security-context.ts";

/** A runtime limits a pull by its progress; this is only for a runtime that hangs. */
const pullTimeoutMs = 60 * 60_000;

/** The images of a container runtime. */
export class CriImages implements ImageStore {
  readonly #client: CriClient;

  constructor(client: CriClient) {
    this.#client = client;
  }

  /** Returns the id of an image that is present. */
  async refOf(image: string): Promise<string | undefined> {
    const { image: found } = await this.#client.call("ImageStatus", { image: { image } });
    return found === null || found.id === "" ? undefined : found.id;
  }

  async userOf(image: string): Promise<ImageUser> {
    const { image: found } = await this.#client.call("ImageStatus", { image: { image } });
    if (found?.uid != null) return { uid: found.uid.value, name: "" };
    // Without a user in its configuration, the image runs as root.
    return found == null || found.username === "" ? { uid: 0, name: "" } : { uid: undefined, name: found.username };
  }

  /** `credential` is the base64 form of `user:password`. */
  async pull(image: string, credential: string | undefined, signal: AbortSignal): Promise<string> {
    const auth = credential === undefined ? undefined : loginOf(credential);
    const options = { timeoutMs: pullTimeoutMs, signal, reason: "ErrImagePull" };
    try {
      return (await this.#client.call("PullImage", { image: { image }, auth }, options)).imageRef;
    } catch (error) {
      throw error instanceof RuntimeError ? namedPullError(image, error) : error;
    }
  }

  /** Returns the images as the status of a node lists them. */
  async names(): Promise<readonly ContainerImage[]> {
    const { images } = await this.#client.call("ListImages", {});
    return images.map(({ repoDigests, repoTags, size }) => ({ names: [...repoDigests, ...repoTags], sizeBytes: size }));
  }

  async list(): Promise<readonly StoredImage[]> {
    const [{ images }, { containers }] = await Promise.all([
      this.#client.call("ListImages", {}),
      this.#client.call("ListContainers", {}),
    ]);
    const used = new Set(containers.map(({ imageId, imageRef }) => (imageId === "" ? imageRef : imageId)));
    return images.map(({ id, repoTags, repoDigests, size, pinned }) => ({
      id,
      names: [...repoDigests, ...repoTags],
      sizeBytes: size,
      isPinned: pinned,
      isUsed: used.has(id) || repoDigests.some((digest) => used.has(digest)),
    }));
  }

  async remove(imageId: string): Promise<void> {
    await this.#client.call("RemoveImage", { image: { image: imageId } });
  }

  async fileSystem(): Promise<{ readonly capacityBytes: number; readonly availableBytes: number }> {
    const { imageFilesystems } = await this.#client.call("ImageFsInfo", {});
    const mountpoint = imageFilesystems[0]?.fsId?.mountpoint;
    if (mountpoint === undefined) throw new RuntimeError("RuntimeError", "the runtime names no image filesystem");
    const { bsize, blocks, bavail } = await statfs(mountpoint);
    return { capacityBytes: bsize * blocks, availableBytes: bsize * bavail };
  }
}

/** Errors of pulls that runtimes name at the beginning of their texts, and what status messages say of them. */
const namedPullErrors = {
  RegistryUnavailable: "the registry is unavailable",
  SignatureValidationFailed: "the signature validation failed",
} as const;

function namedPullError(image: string, error: RuntimeError): RuntimeError {
  const detail = error.message.replace(/^rpc error: code = \w+ desc = /, "");
  for (const [reason, why] of Object.entries(namedPullErrors)) {
    if (!detail.startsWith(reason)) continue;
    const message = `image pull failed for ${image} because ${why}${detail.slice(reason.length)}`;
    return new RuntimeError(reason, message, error.code);
  }
  return error;
}

function loginOf(credential: string): Draft<"AuthConfig"> {
  const text = Buffer.from(credential, "base64").toString();
  const colon = text.indexOf(":");
  if (colon < 0) return { username: text };
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

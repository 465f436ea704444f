import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";

const pluginDirectory = ["/opt/cni/bin", "/usr/lib/cni"].find((path) => existsSync(join(path, "ptp")));
const commands = ["containerd", "ctr", "runc", "busybox", "tar"];

/** Whether containers can run here: as root, with containerd, a network plugin and busybox to make an image of. */
export const hasContainerd =
  process.getuid?.() === 0 && pluginDirectory !== undefined && commands.every((name) => Bun.which(name) !== null);

/** The image that tests run, which holds a shell. */
export const testImage = "docker.io/quorate/shell:1";
const pauseImage = "docker.io/quorate/pause:1";
const tools = "sh sleep cat echo nc ls env id stty head yes mount".split(" ");

/** A containerd of its own, without anything from a network. */
export class Containerd implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "quorate-cri-"));
  readonly #socket = join(this.directory, "c.sock");
  #child: Bun.Subprocess | undefined;

  get endpoint(): string {
    return `unix://${this.#socket}`;
  }

  /** @throws Error with the output of what failed */
  async start(): Promise<this> {
    const { directory } = this;
    const config = join(directory, "config.toml");
    writeFileSync(config, configText(directory));
    mkdirSync(join(directory, "cni"));
    writeFileSync(join(directory, "cni/10-test.conflist"), JSON.stringify(networkOf(directory)));
    const log = Bun.file(join(directory, "log"));
    this.#child = Bun.spawn(["containerd", "-c", config], { stdin: "ignore", stdout: "ignore", stderr: log });
    await until(() => existsSync(this.#socket));
    await this.#run("ctr", "-a", this.#socket, "-n", "k8s.io", "images", "import", await this.#archive());
    return this;
  }

  /** To be called when no pods are left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child?.kill();
    await this.#child?.exited;
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Makes an archive of two images of the same files, and returns its path. */
  async #archive(): Promise<string> {
    const root = join(this.directory, "rootfs");
    for (const folder of ["bin", "etc", "tmp"]) mkdirSync(join(root, folder), { recursive: true });
    copyFileSync(Bun.which("busybox") ?? "", join(root, "bin/busybox"));
    for (const tool of tools) symlinkSync("busybox", join(root, "bin", tool));
    writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/:/bin/sh\nuser:x:1000:1000:user:/:/bin/sh\n");
    const layerPath = join(this.directory, "layer.tar");
    await this.#run("tar", "-C", root, "-cf", layerPath, ".");
    const layout = join(this.directory, "layout");
    mkdirSync(join(layout, "blobs/sha256"), { recursive: true });
    const layer = new Uint8Array(await Bun.file(layerPath).arrayBuffer());
    const blob = (bytes: Uint8Array, mediaType: string) => {
      const digest = createHash("sha256").update(bytes).digest("hex");
      writeFileSync(join(layout, "blobs/sha256", digest), bytes);
      return { mediaType, digest: `sha256:${digest}`, size: bytes.byteLength };
    };
    const layerBlob = blob(layer, "application/vnd.oci.image.layer.v1.tar");
    const imageOf = (name: string, command: readonly string[]) => {
      const rootfs = { type: "layers", diff_ids: [layerBlob.digest] };
      const settings = {
        architecture: architecture(),
        os: "linux",
        config: { Env: ["PATH=/bin"], Cmd: command },
        rootfs,
      };
      const config = blob(Buffer.from(JSON.stringify(settings)), "application/vnd.oci.image.config.v1+json");
      const mediaType = "application/vnd.oci.image.manifest.v1+json";
      const manifest = { schemaVersion: 2, mediaType, config, layers: [layerBlob] };
      const annotations = { "io.containerd.image.name": name };
      return { ...blob(Buffer.from(JSON.stringify(manifest)), mediaType), annotations };
    };
    const manifests = [imageOf(pauseImage, ["/bin/sleep", "1000000"]), imageOf(testImage, ["/bin/sh"])];
    writeFileSync(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
    writeFileSync(join(layout, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
    const archive = join(this.directory, "images.tar");
    await this.#run("tar", "-C", layout, "-cf", archive, "oci-layout", "index.json", "blobs");
    if (statSync(archive).size === 0) throw new Error("the archive of images is empty");
    return archive;
  }

  async #run(...command: string[]): Promise<void> {
    const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
    const [code, complaint] = await Promise.all([child.exited, new Response(child.stderr).text()]);
    if (code !== 0) throw new Error(`${command.slice(0, 2).join(" ")} failed: ${complaint}`);
  }
}

function architecture(): string {
  return process.arch === "x64" ? "amd64" : process.arch;
}

function configText(directory: string): string {
  return `version = 2
root = "${directory}/root"
state = "${directory}/state"
[grpc]
  address = "${directory}/c.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${pluginDirectory}"
    conf_dir = "${directory}/cni"
`;
}

function networkOf(directory: string) {
  const ipam = { type: "host-local", dataDir: join(directory, "ipam"), ranges: [[{ subnet: "10.199.7.0/24" }]] };
  return { cniVersion: "0.4.0", name: "test", plugins: [{ type: "ptp", ipMasq: false, ipam }] };
}

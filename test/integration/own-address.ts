import { networkInterfaces } from "node:os";

/** Returns an address of this machine that is not a loopback address, because the proxy refuses those. */
export function ownAddress(): string {
  const found = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal);
  if (found === undefined) throw new Error("this test needs a network interface beside the loopback");
  return found.address;
}

import { dlopen, FFIType, ptr } from "bun:ffi";
import { closeSync, constants, openSync } from "node:fs";

const libc = dlopen("libc.so.6", {
  ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
  poll: { args: [FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
  read: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i64 },
  write: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i64 },
}).symbols;

/** Request `TUNSETIFF`, and the flags for whole Ethernet frames without a driver's header. */
const attach = 0x400454ca;
const tapWithoutHeader = 0x1002;
const readable = 1;

/** The far end of a network interface of the kernel. It disappears when closed. */
export class TapDevice {
  readonly #descriptor: number;

  constructor(name: string) {
    this.#descriptor = openSync("/dev/net/tun", constants.O_RDWR | constants.O_NONBLOCK);
    const request = Buffer.alloc(40);
    request.write(name, 0, 15, "latin1");
    request.writeUInt16LE(tapWithoutHeader, 16);
    if (libc.ioctl(this.#descriptor, attach, ptr(request)) !== 0) throw new Error(`${name}: the device was refused`);
  }

  /** Reads the next frame into `into` and returns its size, or 0 if there is none. */
  read(into: Uint8Array): number {
    return Math.max(0, Number(libc.read(this.#descriptor, ptr(into), into.length)));
  }

  /** Writes a frame. It is lost if the interface is down. */
  write(frame: Uint8Array): void {
    libc.write(this.#descriptor, ptr(frame), frame.length);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Blocks the thread until a device has a frame, or until the timeout. */
  static wait(devices: readonly TapDevice[], timeoutMs: number): void {
    const set = new Int32Array(devices.length * 2);
    for (const [index, device] of devices.entries()) {
      set[index * 2] = device.#descriptor;
      set[index * 2 + 1] = readable;
    }
    libc.poll(ptr(set), devices.length, timeoutMs);
  }
}

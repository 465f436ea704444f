import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { systemClock } from "../process/clock.ts";
import { extensionAuthentication } from "./extension-authentication.ts";

const parts = { clock: systemClock, clientAuthorities: () => "clients" };

test("without a front proxy, an authority without a key is published under the usual names", () => {
  const data = extensionAuthentication({ ...parts, frontProxy: undefined });
  const { "requestheader-client-ca-file": authority = "", ...names } = data();
  expect(names).toEqual({
    "client-ca-file": "clients",
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-username-headers": '["X-Remote-User"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
  });
  expect(new X509Certificate(authority).ca).toBe(true);
  expect(data()["requestheader-client-ca-file"]).toBe(authority);
});

test("a front proxy is published as the flags describe it", () => {
  const frontProxy = {
    allowedNames: [],
    usernameHeaders: ["x-user"],
    uidHeaders: ["x-uid"],
    groupHeaders: [],
    extraHeaderPrefixes: [],
    authority: () => "proxies",
  };
  expect(extensionAuthentication({ ...parts, frontProxy })()).toEqual({
    "client-ca-file": "clients",
    "requestheader-client-ca-file": "proxies",
    "requestheader-allowed-names": "[]",
    "requestheader-username-headers": '["x-user"]',
    "requestheader-uid-headers": '["x-uid"]',
    "requestheader-group-headers": "[]",
    "requestheader-extra-headers-prefix": "[]",
  });
});

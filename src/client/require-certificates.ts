/**
 * Checks a bundle of authorities, PEM; an absent one means those of the system.
 * @throws Error with upstream's text for a bundle without certificates
 */
export function requireCertificates(pem: string | undefined): void {
  if (pem === undefined || pem.includes("-----BEGIN CERTIFICATE-----")) return;
  const why = pem.includes("-----BEGIN ")
    ? "no valid certificate authority data seen"
    : "unable to parse bytes as PEM block";
  throw new Error(`unable to load root certificates: ${why}`);
}

const versionForm = /^v([1-9][0-9]{0,9})(?:(alpha|beta)([1-9][0-9]{0,9}))?$/;
const stages = ["alpha", "beta", undefined];

/**
 * Orders the versions of a group by preference: stable before beta before alpha, higher numbers first, and any other
 * versions last, by name.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [versionForm.exec(a), versionForm.exec(b)];
  if (left === null || right === null) {
    if (left === null && right === null) return a < b ? -1 : Number(a > b);
    return left === null ? 1 : -1;
  }
  return (
    stages.indexOf(right[2]) - stages.indexOf(left[2]) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  );
}

/** Returns the words that run this program again: Bun, its flags and the program, or the single executable. */
export function ownCommand(): string[] {
  const isExecutable = /^(\/\$bunfs|[A-Z]:[\\/]~BUN)[\\/]/.test(Bun.main);
  return [process.execPath, ...process.execArgv, ...(isExecutable ? [] : [Bun.main])];
}

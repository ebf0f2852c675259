// Shows how far along the year is.

export function dayOfYear(date: Date): number {
  const start = Date.UTC(date.getUTCFullYear(), 0, 1);
  const today = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  return Math.round((today - start) / 86_400_000) + 1;
}

export function describe(date: Date): string {
  return `Day ${dayOfYear(date)} of ${date.getUTCFullYear()}`;
}

console.log(describe(new Date()));

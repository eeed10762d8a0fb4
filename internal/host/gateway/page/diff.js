// A change of a file as lines: what was the same at both ends is left out but for a
// few lines around the change.

const around = 3;

// diff gives lines with "-", "+" or " " in front of them.
export function diff(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const from = Math.max(0, start - around);
  const tail = a.slice(a.length - end, a.length - Math.max(0, end - around));
  const lines = [
    ...a.slice(from, start).map((line) => `  ${line}`),
    ...a.slice(start, a.length - end).map((line) => `- ${line}`),
    ...b.slice(start, b.length - end).map((line) => `+ ${line}`),
    ...tail.map((line) => `  ${line}`),
  ];
  const left = from > 0 ? [`  (${from} lines before this are the same)`] : [];
  const right = end > around ? [`  (${end - around} lines after this are the same)`] : [];
  return [...left, ...lines, ...right].join("\n");
}

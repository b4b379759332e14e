import { describe, expect, it } from "vitest";
import { MessageParser } from "./sse";

const STREAM = ': hello\r\n\r\nid: 1.aa\nevent: turn\ndata: {"a":\ndata: 1}\n\ndata: two\r\rid: 3\n\n';
const EXPECTED = [
  { id: "1.aa", event: "turn", data: '{"a":\n1}' },
  { id: "1.aa", event: "message", data: "two" },
];

describe("the messages of a stream", () => {
  it("are the same wherever the network cuts the text", () => {
    for (let size = 1; size <= STREAM.length; size++) {
      const parser = new MessageParser();
      const messages = [];
      for (let at = 0; at < STREAM.length; at += size) messages.push(...parser.parse(STREAM.slice(at, at + size)));
      expect(messages).toEqual(EXPECTED);
    }
  });
});

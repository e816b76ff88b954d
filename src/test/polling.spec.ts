/**
 * Plots that come by polling.
 *
 * @jest-environment node
 */

import { Poll } from '../plot/polling';
import type { IOpenWay, IWay } from '../plot/socket';
import { settled, until } from './plots';

interface IAsked {
  readonly key: string;
  readonly method: string;
  readonly body: Record<string, unknown>;
  answer(response: Response): void;
  fail(reason: string): void;
}

/** What a GET answers: one line about the parts, and their bytes. */
function messages(
  ...parts: { id: unknown; kind: string; reason?: string; text?: string }[]
): Response {
  const heads = parts.map(({ text = '', ...part }) => ({ ...part, size: text.length }));
  const texts = parts.map(({ text = '' }) => text).join('');
  return new Response(`${JSON.stringify({ parts: heads })}\n${texts}`);
}

describe('polling', () => {
  let asked: IAsked[];
  let said: string[];
  let way: IWay;
  const errors = jest.fn();
  Object.assign(globalThis, { reportError: errors });

  beforeEach(() => {
    asked = [];
    said = [];
    errors.mockClear();
    const poll = new Poll(
      (url, method, body) => {
        const key = url.slice(url.lastIndexOf('/') + 1);
        return new Promise((answer, reject) => {
          const fail = (reason: string): void => reject(new Error(reason));
          asked.push({ key, method, body: { ...body }, answer, fail });
        });
      },
      '/',
      'by polling'
    );
    way = poll.ways({ note: '', open: () => ({ send() {}, close() {} }) }, 'd', 'plots/x/ws')[1]!;
  });

  function open(name: string): IOpenWay {
    return way.open([], {
      onMessage: text => {
        said.push(`${name}: ${String(text)}`);
        if (text === 'bad') {
          throw new Error('BokehJS does not like it.');
        }
      },
      onClose: reason => void said.push(`${name} closed: ${reason}`)
    });
  }

  /** Wait for the next request, of so many in all. */
  async function next(count: number): Promise<IAsked> {
    await until(() => asked.length === count);
    return asked[count - 1]!;
  }

  it.each([
    ['fails', (late: IAsked) => late.fail('Too late.')],
    ['is answered', (late: IAsked) => late.answer(new Response(null))]
  ])('begins under another key after a failure, whatever %s later', async (_, end) => {
    open('a');
    const opening = await next(1);
    opening.answer(new Response(null));
    const waiting = await next(2);
    const other = open('b');
    const late = await next(3);
    waiting.fail('The proxy is away.');
    await until(() => said.length === 2);
    expect(said).toEqual(['a closed: The proxy is away.', 'b closed: The proxy is away.']);

    other.send('x'); // has ended, and sends nothing
    open('a');
    const again = await next(4);
    expect([again.method, again.body['do']]).toEqual(['POST', 'open']);
    expect([waiting.key === opening.key, again.key === opening.key]).toEqual([true, false]);
    end(late);
    await settled();
    expect(asked).toHaveLength(4); // the server does not know the new key yet
    again.answer(new Response(null));
    const receiving = await next(5);
    expect([receiving.method, receiving.key]).toEqual(['GET', again.key]);
    receiving.answer(messages({ id: again.body['id'], kind: 'text', text: 'ACK' }));
    (await next(6)).fail('Gone.');
    await until(() => said.length === 4);
    expect(said.slice(2)).toEqual(['a: ACK', 'a closed: Gone.']);
  });

  it('tells why one does not open, and goes on with the others, also after one that throws', async () => {
    open('a');
    open('b');
    const first = await next(1);
    first.answer(new Response(null));
    await until(() => asked.length === 3);
    const second = asked.find(({ body }) => body['do'] === 'open' && body !== first.body)!;
    second.answer(new Response(null));
    const [a, b] = [first.body['id'], second.body['id']];
    const receiving = asked.find(({ method }) => method === 'GET')!;
    receiving.answer(
      messages(
        { id: b, kind: 'text', text: 'bad' },
        { id: a, kind: 'closed', reason: 'It does not open this plot.' },
        { id: b, kind: 'text', text: 'more' }
      )
    );
    await next(4);
    expect(said).toEqual(['b: bad', 'a closed: It does not open this plot.', 'b: more']);
    expect(errors).toHaveBeenCalledTimes(1);
  });
});

// Tests how the type of a file is found by its first bytes. Also tests the links to files, whose
// ending shows the type.

import { fileLink, tokenOfLink } from '../../src/files/file-link.rules';
import { mediaTypeOf } from '../../src/files/media-type.rules';
import { beginnings } from '../support/files';

test.each(Object.entries(beginnings))(
  'a file of the type %s is recognised',
  (contentType, head) => {
    expect(mediaTypeOf(head)?.contentType).toBe(contentType);
    expect(mediaTypeOf(Buffer.concat([head, Buffer.alloc(1_000)]))?.contentType).toBe(contentType);
  },
);

test.each([
  ['a frame of MPEG layer III', Buffer.from('fffb9064', 'hex'), 'audio/mpeg'],
  [
    'QuickTime boxes without ftyp',
    Buffer.from('\0\0\0\x08wide\0\0\x10\0mdat', 'latin1'),
    'video/quicktime',
  ],
])('a file that begins with %s is recognised', (_, head, contentType) => {
  expect(mediaTypeOf(head)?.contentType).toBe(contentType);
});

test.each([
  ['no bytes', ''],
  ['text', 'A paper boat'],
  ['HTML', '<!doctype html>'],
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg">'],
  ['PDF', '%PDF-1.7'],
  ['a program', '\x7fELF\x02\x01'],
  ['an archive', 'PK\x03\x04'],
  ['AVI', 'RIFF\x24\0\0\0AVI LIST'],
  ['M4A audio', '\0\0\0\x20ftypM4A \0\0\0\0'],
  ['AVIF', '\0\0\0\x20ftypavif\0\0\0\0'],
  ['WebM', '\x1a\x45\xdf\xa3'],
  ['AAC frames', '\xff\xf1\x50\x80'],
  ['a text that begins with BM', 'BM is a car maker'],
])('a file with %s has no accepted type', (_, text) => {
  expect(mediaTypeOf(Buffer.from(text, 'latin1'))).toBeNull();
});

const token = 'a'.repeat(32);

test('a link to a file contains its token and the ending of its type', () => {
  const link = fileLink('https://api.example.com', token, 'image/jpeg');
  expect(link).toBe(`https://api.example.com/files/${token}.jpg`);
  expect(tokenOfLink('https://api.example.com', link)).toBe(token);
});

test.each([
  `https://api.example.com/files/${token}.jpg?x=1`,
  `https://api.example.com/files/${token}.jpg#a`,
  `HTTPS://API.example.com/files/${token}.jpg`,
  `http://api.example.com/files/${token}.jpg`,
  `https://api.example.com:443/files/${token}.jpg`,
  `https://api.example.com./files/${token}.jpg`,
  `https://user@api.example.com/files/${token}.jpg`,
  `https://api.example.com/./files/${token}.jpg`,
  `https://api.example.com/v1/../files/${token}.jpg`,
  `https://api.example.com/%66iles/${token}.jpg`,
  `https://api.example.com/files/%61${token.slice(1)}.jpg`,
  `https://api.example.com/files%2F${token}.jpg`,
  `https:\\\\api.example.com\\files\\${token}.jpg`,
  ` https://api.example.com/files/${token}.jpg`,
])('the address %s is a link of this installation', (address) => {
  expect(tokenOfLink('https://api.example.com', address)).toBe(token);
});

test('a link below a path of the public URL is recognised', () => {
  const url = 'https://example.com/video';
  expect(tokenOfLink(url, `${url}/files/${token}.jpg?x`)).toBe(token);
  expect(tokenOfLink(url, `https://example.com/files/${token}.jpg`)).toBeNull();
});

test.each([
  'https://other.example.com/files/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.jpg',
  'https://api.example.com/files/short.jpg',
  'https://api.example.com/files/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.jpg/x',
  'https://api.example.com/files/../v1/models',
  'https://api.example.com:8443/files/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.jpg',
  'https://api.example.com/files/%ff.jpg',
  'no address',
])('the address %s is not a link of this installation', (address) => {
  expect(tokenOfLink('https://api.example.com', address)).toBeNull();
});

// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// A mapping of mappings with numbers for keys.
contract Grid {
    mapping(uint => mapping(uint => uint8)) cells;
    uint written;

    function set(uint x, uint y, uint8 color) public {
        require(color < 16);
        cells[x][y] = color;
        written += 1;
        assert(cells[x][y] < 16); // expect: safe
    }

    function copy(uint x, uint from, uint to) public {
        uint8 color = cells[x][from];
        cells[x][to] = color;
        assert(cells[x][to] == color); // expect: safe
        assert(from == to || cells[x][from] == cells[x][to]); // expect: safe
    }

    function any(uint x, uint y) public view {
        assert(written < 2 || cells[x][y] == 0); // expect: unsafe
    }
}

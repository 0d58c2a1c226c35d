// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// A mapping of mappings with numbers for keys, written along a line by a loop.
contract Grid {
    mapping(uint => mapping(uint => uint8)) cells;
    uint written;

    function set(uint x, uint y, uint8 color) public {
        require(color < 16);
        cells[x][y] = color;
        written += 1;
        assert(cells[x][y] < 16); // expect: safe
    }

    function line(uint x, uint length, uint8 color) public {
        require(color < 16 && length <= 100);
        for (uint y = 0; y < length; y++)
            cells[x][y] = color;
        if (length > 0)
            assert(cells[x][0] == color); // expect: safe
    }

    function any(uint x, uint y) public view {
        assert(cells[x][y] < 16); // expect: safe
        assert(cells[x][y] == 0 || written > 0); // expect: unsafe
    }
}

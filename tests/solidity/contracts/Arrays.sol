// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Arrays that grow and shrink, and arrays of arrays.
contract Arrays {
    uint[] items;
    uint[][] rows;

    function add(uint item) public {
        require(item < 100);
        uint length = items.length;
        items.push(item);
        assert(items.length == length + 1); // expect: safe
        assert(items[length] < 100); // expect: safe
    }

    function remove() public {
        require(items.length > 0);
        items.pop();
    }

    function replace(uint index, uint item) public {
        require(index < items.length);
        items[index] = item;
        assert(items[0] == item); // expect: unsafe
    }

    function row() public {
        rows.push();
        rows[rows.length - 1].push(7);
        assert(rows[rows.length - 1][0] == 7); // expect: safe
    }
}
